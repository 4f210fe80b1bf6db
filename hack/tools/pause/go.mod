module depot.internal/hack/tools/pause

go 1.26.8
