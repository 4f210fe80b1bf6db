import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Kind, mistakesIn, parseResource } from '../pkg/api/v1alpha1/v1alpha1.ts'

const pages = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'config/chart/README.md'])

/** The mistakes in objects of Depot; other documents, such as values of the chart, have none. */
const mistakesOf = (yaml: string) =>
  parseAllDocuments(yaml).flatMap((document) => {
    const object = document.toJS() as { apiVersion?: unknown; kind: Kind } | null
    if (!String(object?.apiVersion).startsWith('depot.internal/')) return []
    const parsed = parseResource(object?.kind ?? 'Module', object)
    return parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  })

it.each(globSync('docs/examples/*.yaml'))('%s has no mistakes', (file) => {
  expect(mistakesOf(readFileSync(file, 'utf8'))).toEqual([])
})

it('no object that a page prints has a mistake', () => {
  const found = pages.flatMap((page) => {
    const blocks = readFileSync(page, 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)
    return [...blocks].flatMap(([, yaml = '']) => mistakesOf(yaml).map((issue) => [page, issue]))
  })
  expect(found).toEqual([])
})

it('every link between pages leads to a page and a heading', () => {
  const broken = pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8').replaceAll(/^```.*?^```/gms, '')
    return [...text.matchAll(/\]\(([^)\s:]*)\)/g)].flatMap(([, link = '']) => {
      const [file = '', heading] = link.split('#')
      const target = file === '' ? page : join(dirname(page), file)
      if (globSync(target).length === 0) return [`${page}: ${link}`]
      const isFound = heading === undefined || headingsOf(target).includes(heading)
      return isFound ? [] : [`${page}: ${link}`]
    })
  })
  expect(broken).toEqual([])
})

/** The anchors of a page, as code hosts name them. */
const headingsOf = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('the page on supported versions names the versions that tests use', () => {
  const versionOf = (tool: string) =>
    /^version=(.+)$/m.exec(readFileSync(`hack/tools/${tool}/build`, 'utf8'))?.[1] ?? ''
  const node = /^version=(.+)\noldest=(.+)$/m.exec(readFileSync('hack/with-node', 'utf8'))
  const rows = readFileSync('docs/scope.md', 'utf8').split('\n')
  const rowOf = (name: string) => rows.find((row) => row.startsWith(`| ${name}`))
  expect(rowOf('Terraform')).toContain(`| ${versionOf('terraform')} |`)
  expect(rowOf('OpenTofu')).toContain(`| ${versionOf('tofu')} |`)
  expect(rowOf('Kubernetes')).toContain(`| ${versionOf('kube').replace(/\.\d+$/, '')} |`)
  expect(rowOf('Node')).toContain(`| ${node?.[2]} and newer;`)
  expect(rowOf('Node')).toContain(`| ${node?.[1]} |`)
})

it('the first example is the one that the documentation prints', () => {
  const example = readFileSync('docs/examples/first-depot.yaml', 'utf8')
  expect(readFileSync('docs/sync.md', 'utf8')).toContain(example)
})
