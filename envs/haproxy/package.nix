{ haproxy }: haproxy
