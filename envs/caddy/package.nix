{ caddy }: caddy
