module depot.internal/hack/tools/expr-reference

go 1.26

require github.com/expr-lang/expr v1.17.8
