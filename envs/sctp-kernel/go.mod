module howquick

go 1.26.0
