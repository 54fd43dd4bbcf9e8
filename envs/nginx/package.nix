# The default nginx of nixpkgs has HTTP/3.
{ nginx }: nginx
