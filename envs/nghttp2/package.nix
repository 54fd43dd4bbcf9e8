{ nghttp2 }: nghttp2
