// Writes a vulnerability database for Trivy into a folder: `trivy-db FOLDER VERSION`. It says that every version of
// go.etcd.io/bbolt before VERSION has a critical vulnerability. This program contains that package, so it is also a binary
// in which Trivy finds it.
package main

import (
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/aquasecurity/trivy-db/pkg/db"
	"github.com/aquasecurity/trivy-db/pkg/metadata"
	"github.com/aquasecurity/trivy-db/pkg/types"
	bolt "go.etcd.io/bbolt"
)

const (
	id     = "CVE-2026-0001"
	source = "go::GitHub Security Advisory Go"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: trivy-db FOLDER VERSION")
	}
	if err := write(filepath.Join(os.Args[1], "db"), os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func write(folder, version string) error {
	if err := db.Init(folder); err != nil {
		return err
	}
	config := db.Config{}
	err := config.BatchUpdate(func(tx *bolt.Tx) error {
		if err := config.PutDataSource(tx, source, types.DataSource{ID: "ghsa", Name: source}); err != nil {
			return err
		}
		vulnerability := types.Vulnerability{Title: "A page is freed twice", Severity: "CRITICAL"}
		if err := config.PutVulnerability(tx, id, vulnerability); err != nil {
			return err
		}
		advisory := types.Advisory{VulnerableVersions: []string{"< " + version}, PatchedVersions: []string{version}}
		return config.PutAdvisory(tx, []string{source, "go.etcd.io/bbolt"}, id, advisory)
	})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	now := time.Now()
	return metadata.NewClient(folder).Update(metadata.Metadata{
		Version: db.SchemaVersion, UpdatedAt: now, NextUpdate: now.Add(time.Hour), DownloadedAt: now,
	})
}
