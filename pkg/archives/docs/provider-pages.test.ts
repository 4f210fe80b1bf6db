import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PageCollector, unpackPage, unpackPages } from './pages-file.ts'

async function collected(files: Iterable<readonly [string, string]>) {
  const collector = new PageCollector()
  for (const [path, text] of files) {
    const take = collector.take(path)
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 65_536) take?.(bytes.subarray(at, at + 65_536))
  }
  return collector.packed()
}

async function read(files: Readonly<Record<string, string>>) {
  const docs = await collected(Object.entries(files))
  if (docs === undefined) return undefined
  const { pages, leftOut } = await unpackPages(docs.bytes)
  const texts = await Promise.all(pages.map((page) => unpackPage(docs.bytes, page)))
  return { pages: pages.map(({ page }) => page), texts, leftOut }
}

const host = `---
page_title: "cmdb_host Resource - terraform-provider-cmdb"
subcategory: Inventory
description: |-
  A host in the configuration database.
---

# cmdb_host
`

describe('the pages of a provider', () => {
  it('are listed with the fields of their front matter, and read one by one', async () => {
    const found = await read({
      'docs/resources/host.md': host,
      'docs/data-sources/host.md': '# no front matter',
      'docs/functions/parse_id.md': '---\npage_title: "parse_id function - cmdb"\n---\nx',
      'docs/guides/upgrade.md': '---\npage_title: Upgrade to 0.9\n---\nUpgrade',
      'docs/index.md': '---\r\npage_title: cmdb Provider\r\n---\r\nThe provider',
      'terraform-provider-cmdb_v1.0.0': 'binary',
      'README.md': '# readme',
    })
    expect(found).toEqual({
      leftOut: 0,
      pages: [
        {
          category: 'data-sources',
          slug: 'host',
          title: 'host',
          path: 'docs/data-sources/host.md',
        },
        {
          category: 'functions',
          slug: 'parse_id',
          title: 'parse_id',
          path: 'docs/functions/parse_id.md',
        },
        {
          category: 'guides',
          slug: 'upgrade',
          title: 'Upgrade to 0.9',
          path: 'docs/guides/upgrade.md',
        },
        { category: 'overview', slug: 'index', title: 'Overview', path: 'docs/index.md' },
        {
          category: 'resources',
          subcategory: 'Inventory',
          slug: 'host',
          title: 'cmdb_host',
          path: 'docs/resources/host.md',
          description: 'A host in the configuration database.',
        },
      ],
      texts: ['# no front matter', 'x', 'Upgrade', 'The provider', '\n# cmdb_host\n'],
    })
  })

  it('have an older layout, which is read if there is no other', async () => {
    const old = {
      'website/docs/r/host.html.markdown': host,
      'website/docs/d/host.html.md': 'data',
      'website/docs/index.html.markdown': 'index',
    }
    expect((await read(old))?.pages.map(({ category, slug }) => `${category}/${slug}`)).toEqual([
      'data-sources/host',
      'overview/index',
      'resources/host',
    ])
    const both = await read({ ...old, 'docs/index.md': 'new' })
    expect(both?.texts).toEqual(['new'])
  })

  it('do not exist if a release has no docs', async () => {
    expect(await read({ 'README.md': '#', 'docs/notes.md': '#', 'docs/cdktf/a/b.md': '#' })).toBe(
      undefined,
    )
  })

  it('are stored as JSON that other programs can read', async () => {
    const docs = await collected([['docs/index.md', 'é "quoted"']])
    const [, list, ...pages] = JSON.parse(gunzipSync(docs?.bytes ?? '').toString()) as unknown[]
    expect(list).toMatchObject({ schema: 1, pages: [{ page: { slug: 'index' } }] })
    expect(pages).toEqual(['é "quoted"'])
  })
})

describe('hostile pages', () => {
  it.each([
    ['an alias', '---\na: &a [1]\npage_title: *a\n---\ntext'],
    ['a list', '---\n- 1\n---\ntext'],
    ['a mistake', '---\npage_title: "open\n---\ntext'],
    ['deep nesting', `---\npage_title: ${'['.repeat(5_000)}\n---\ntext`],
    ['a number', '---\npage_title: 1\n__proto__: {page_title: bad}\n---\ntext'],
  ])('have the name of their file if the front matter has %s', async (_, text) => {
    const found = await read({ 'docs/guides/start.md': text })
    expect(found?.pages).toMatchObject([{ title: 'start' }])
    expect(found?.texts).toEqual(['text'])
  })

  it('have titles without control characters and marks of direction', async () => {
    const title = '\\e[31mred\\u202Eevil\\0<script>alert(1)</script>'
    const found = await read({ 'docs/guides/x.md': `---\npage_title: "${title}"\n---\n` })
    expect(found?.pages[0]?.title).toBe('[31mred evil <script>alert(1)</script>')
  })

  it.each([
    'docs/guides/../../x.md',
    'docs/guides/..md',
    'docs/guides/.md',
    'docs/guides/a b.md',
    'docs/guides/%2e%2e.md',
    'docs/guides/<img>.md',
    `docs/guides/${'a'.repeat(129)}.md`,
  ])('do not exist below %j', async (path) => {
    const found = await read({ [path]: 'text' })
    expect(found?.pages ?? []).toEqual([])
  })

  it('are cut if they are huge', async () => {
    const found = await read({ 'docs/index.md': 'é'.repeat(1024 * 1024), 'docs/guides/a.md': 'a' })
    const [a, huge = ''] = found?.texts ?? []
    expect(a).toBe('a')
    expect(huge).toMatch(
      /^é+\n\n\*The rest of this page is left out: it has more than 256 KiB\.\*\n$/,
    )
    expect(huge.length).toBeLessThan(132_000)
  })

  it('are left out after 3,000, and above 20 MiB', async () => {
    const many = function* () {
      for (let at = 0; at < 10_000; at += 1) yield [`docs/guides/g${at}.md`, 'x'] as const
    }
    const docs = await collected(many())
    const list = await unpackPages(docs?.bytes ?? Buffer.alloc(0))
    expect([list.pages.length, list.leftOut]).toEqual([3_000, 7_000])
    const text = 'x'.repeat(200 * 1024)
    const large = Array.from({ length: 200 }, (_, at) => [`docs/guides/g${at}.md`, text] as const)
    const { pages, leftOut } = await unpackPages((await collected(large))?.bytes ?? Buffer.alloc(0))
    expect(pages.length).toBe(102)
    expect(leftOut).toBe(98)
  })
})
