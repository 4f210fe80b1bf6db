// Prints a module as terraform-ls reads it from a registry: terraform-ls-client URL ADDRESS CONSTRAINT
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-ls/internal/registry"
	tfaddr "github.com/hashicorp/terraform-registry-address"
)

func main() {
	module, err := read(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(module)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(url, address, constraint string) (*registry.ModuleResponse, error) {
	source, err := tfaddr.ParseModuleSource(address)
	if err != nil {
		return nil, err
	}
	constraints, err := version.NewConstraint(constraint)
	if err != nil {
		return nil, err
	}
	client := registry.NewClient()
	client.BaseURL = url
	return client.GetModuleData(context.Background(), source, constraints)
}
