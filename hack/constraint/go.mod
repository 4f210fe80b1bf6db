module depot/constraint-vectors

go 1.25

require github.com/hashicorp/go-version v1.9.0
