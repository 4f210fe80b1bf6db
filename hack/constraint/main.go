// Writes vectors for pkg/api/constraint: which versions HashiCorp's own library lets through which constraints.
//
//	go run . > ../../pkg/api/constraint/testdata/vectors.json
//
// The generator of chance starts at the same place each time, so the same library gives the same file.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"

	"github.com/hashicorp/go-version"
)

type vector struct {
	Constraint string `json:"constraint"`
	// Versions that are let through and that are not, each as the library says.
	Allows  []string `json:"allows"`
	Refuses []string `json:"refuses"`
}

var (
	random      = rand.New(rand.NewSource(1))
	operators   = []string{"", "=", "!=", ">", ">=", "<", "<=", "~>"}
	prereleases = []string{"", "", "", "", "-alpha", "-beta", "-rc.1", "-rc.2", "-rc.10", "-1"}
	separators  = []string{",", ", ", " , "}
)

func number() string { return fmt.Sprint(random.Intn(4)) }

func pick(from []string) string { return from[random.Intn(len(from))] }

func versionOf(segments int) string {
	numbers := make([]string, segments)
	for i := range numbers {
		numbers[i] = number()
	}
	return strings.Join(numbers, ".") + pick(prereleases)
}

func clause() string {
	operator := pick(operators)
	text := operator + pick([]string{"", " "}) + pick([]string{"", "", "v"}) + versionOf(1+random.Intn(3))
	if operator == "" {
		text = strings.TrimSpace(text)
	}
	return text
}

func main() {
	var vectors []vector
	for len(vectors) < 500 {
		clauses := make([]string, 1+random.Intn(3))
		for i := range clauses {
			clauses[i] = clause()
		}
		text := strings.Join(clauses, pick(separators))
		constraints, err := version.NewConstraint(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, text, err)
			os.Exit(1)
		}
		one := vector{Constraint: text, Allows: []string{}, Refuses: []string{}}
		seen := map[string]bool{}
		for range 14 {
			spelled := versionOf(3)
			if seen[spelled] {
				continue
			}
			seen[spelled] = true
			if constraints.Check(version.Must(version.NewVersion(spelled))) {
				one.Allows = append(one.Allows, spelled)
			} else {
				one.Refuses = append(one.Refuses, spelled)
			}
		}
		vectors = append(vectors, one)
	}
	lines := make([]string, len(vectors))
	for i, one := range vectors {
		line, err := json.Marshal(one)
		if err != nil {
			panic(err)
		}
		// Operators stay readable.
		text := strings.NewReplacer("\\u003e", ">", "\\u003c", "<").Replace(string(line))
		lines[i] = "  " + text
	}
	fmt.Println("[\n" + strings.Join(lines, ",\n") + "\n]")
}
