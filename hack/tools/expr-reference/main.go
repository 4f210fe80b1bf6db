// Answers group rules as the reference implementation of the language does: reads lines of JSON, {"expr": "...",
// "groups": [...]}, and writes a line for each: true, false, compile-error or runtime-error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/expr-lang/expr"
)

type environment struct {
	Groups []string `expr:"groups"`
}

type question struct {
	Expr   string   `json:"expr"`
	Groups []string `json:"groups"`
}

func answer(q question) (result string) {
	program, err := expr.Compile(q.Expr, expr.Env(environment{}), expr.AsBool())
	if err != nil {
		return "compile-error"
	}
	defer func() {
		if recover() != nil {
			result = "runtime-error"
		}
	}()
	value, err := expr.Run(program, environment{Groups: q.Groups})
	if err != nil {
		return "runtime-error"
	}
	if value == true {
		return "true"
	}
	return "false"
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, "not a question:", err)
			os.Exit(1)
		}
		fmt.Fprintln(out, answer(q))
	}
}
