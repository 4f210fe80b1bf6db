import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect, it } from 'vitest'

it.each(globSync('pkg/*/README.md').filter((file) => !/explorer|expr/.test(file)))(
  '%s lists the packages of its plane',
  (file) => {
    const packages = globSync(`${dirname(file)}/*/`).map((folder) => basename(folder))
    const rows = [...readFileSync(file, 'utf8').matchAll(/^\| `([\w-]+)` \|/gm)]
    expect(rows.map(([, name = '']) => name).toSorted()).toEqual(packages.toSorted())
  },
)
