"""What the servers serve: pages, sites and certificates, made from the seed."""
