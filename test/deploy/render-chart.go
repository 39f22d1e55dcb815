// Renders a chart as Helm does: Go's text/template with Sprig, and the functions that Helm adds, as far as the chart
// uses them. Reads {"chart": folder, "root": {"Values": …, "Release": …, "Chart": …}} and prints the manifests, and the
// notes to stderr.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

// What templates read of the chart's folder.
type files string

func (folder files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(string(folder), name))
	must(err)
	return string(text)
}

func main() {
	var given struct {
		Chart string
		Root  map[string]interface{}
	}
	decoder := json.NewDecoder(os.Stdin)
	// Otherwise 3000 becomes 3000.0, which Helm avoids in the same way.
	decoder.UseNumber()
	must(decoder.Decode(&given))
	given.Root["Files"] = files(given.Chart)
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	// JSON is YAML.
	functions["toYaml"] = func(value interface{}) (string, error) {
		out, err := json.Marshal(value)
		return string(out), err
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(given.Chart, "templates", "*"))
	must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(err)
		template.Must(all.New(filepath.Base(file)).Parse(string(text)))
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".yaml") {
			fmt.Println("---")
			must(all.ExecuteTemplate(os.Stdout, filepath.Base(file), given.Root))
		}
	}
	must(all.ExecuteTemplate(os.Stderr, "NOTES.txt", given.Root))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
