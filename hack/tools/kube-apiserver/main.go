// The API server of Kubernetes, as a binary for tests: its own module cannot be installed, as its staging modules are
// replaced by folders.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
