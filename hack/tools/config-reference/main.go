// Reads modules as terraform-config-inspect does: for each folder that is an argument, it writes a line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

func main() {
	lines := json.NewEncoder(os.Stdout)
	for _, folder := range os.Args[1:] {
		// The diagnostics are part of the module.
		module, _ := tfconfig.LoadModule(folder)
		if err := lines.Encode(module); err != nil {
			fmt.Fprintln(os.Stderr, "not written:", err)
			os.Exit(1)
		}
	}
}
