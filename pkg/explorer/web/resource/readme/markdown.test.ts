import { Fragment, isValidElement } from 'preact'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { cpuTimeMs } from '../../../../../hack/testbed/cpu-time.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { drawMarkdown, drawReadme } from './drawing.tsx'
import { heavyTexts, hostileTexts } from './hostile.fixture.ts'

interface Drawn {
  readonly type: string
  readonly props: Readonly<Record<string, unknown>>
}

/** Props of the only component in a README, or of a fragment. */
const nameOf = (type: unknown): string =>
  type === CodeBlock ? 'CodeBlock' : type === Fragment ? 'Fragment' : 'unknown'

/** Every rendered element, and its texts. */
function elementsOf(node: unknown, found: (Drawn | string)[] = []): (Drawn | string)[] {
  const left: unknown[] = [node]
  while (left.length > 0) {
    const next = left.pop()
    if (Array.isArray(next)) left.push(...next.toReversed())
    else if (typeof next === 'string') found.push(next)
    else if (isValidElement(next)) {
      const props = next.props as Record<string, unknown>
      const type = typeof next.type === 'string' ? next.type : nameOf(next.type)
      found.push({ type, props })
      left.push(props['children'])
    }
  }
  return found
}

const textOf = (markdown: string): string =>
  elementsOf(drawReadme(markdown).content)
    .filter((node) => typeof node === 'string')
    .join('')

const tagsOf = (markdown: string): string[] =>
  elementsOf(drawReadme(markdown).content).flatMap((node) =>
    typeof node === 'string' ? [] : node.type,
  )

const allowed = new Set(
  'Fragment p h3 h4 h5 h6 em strong del code CodeBlock blockquote ul ol li label input span table thead tbody tr th td div hr br a sup'.split(
    ' ',
  ),
)
const attributes = new Set(
  'children id class href rel start type checked disabled tabIndex role aria-label scope text what hcl'.split(
    ' ',
  ),
)

it('is tested with at least a hundred attacks', () => {
  expect(hostileTexts.length + heavyTexts.length).toBeGreaterThanOrEqual(100)
})

it.each(hostileTexts.map((text) => [text.slice(0, 100), text] as const))(
  'renders nothing harmful of %j',
  (_start, markdown) => {
    const drawn = elementsOf(drawReadme(markdown).content).filter(
      (node) => typeof node !== 'string',
    )
    const valuesOf = (name: string) => drawn.flatMap(({ props }) => props[name] ?? [])
    expect(drawn.filter(({ type }) => !allowed.has(type))).toEqual([])
    expect(
      drawn.flatMap(({ props }) => Object.keys(props)).filter((name) => !attributes.has(name)),
    ).toEqual([])
    expect(valuesOf('href').filter((href) => !isHarmless(href))).toEqual([])
    expect(valuesOf('id').filter((id) => !(id as string).startsWith('readme-'))).toEqual([])
  },
)

const isHarmless = (href: unknown): boolean =>
  /^(?:https?:\/\/|mailto:|#readme-)/.test(href as string)

it.each(heavyTexts.map((text, at) => [at, text.slice(0, 12), text] as const))(
  'parses the heavy document %i, %j…, fast',
  (_at, _start, markdown) => {
    const began = cpuTimeMs()
    drawReadme(markdown)
    expect(cpuTimeMs() - began).toBeLessThan(3000)
  },
)

it('renders tables, task lists, strikethrough and footnotes', () => {
  const tags = tagsOf('| a |\n|-|\n| b |\n\n- [x] c\n\n~~d~~ e[^1]\n\n[^1]: f')
  expect(tags).toEqual(expect.arrayContaining(['table', 'input', 'del', 'sup']))
})

it('shifts headings below the heading of the card, and skips no level', () => {
  const markdown = '# One\n\n#### Deep\n\n## Two\n\n## Two'
  expect(tagsOf(markdown).filter((tag) => tag.startsWith('h'))).toEqual(['h3', 'h4', 'h4', 'h4'])
  expect(drawReadme(markdown).headings).toEqual([
    { id: 'readme-deep', words: 'Deep' },
    { id: 'readme-two', words: 'Two' },
    { id: 'readme-two-1', words: 'Two' },
  ])
})

it('renders pictures as links, and relative links as text', () => {
  const drawn = elementsOf(drawReadme('![alt](https://a.example/b.png) [here](docs/a.md)').content)
  const links = drawn.flatMap((node) =>
    typeof node === 'string' ? [] : (node.props['href'] ?? []),
  )
  expect(links).toEqual(['https://a.example/b.png'])
  expect(textOf('![alt](https://a.example/b.png) [here](docs/a.md)')).toBe('alt here')
})

describe('with the page of its folder', () => {
  const folder = 'https://github.com/acme/network/blob/v1.2.0/modules/vpc/'
  const hrefsOf = (markdown: string): unknown[] =>
    elementsOf(drawReadme(markdown, folder).content).flatMap((node) =>
      typeof node === 'string' ? [] : (node.props['href'] ?? []),
    )

  it('resolves relative links and pictures to the repository', () => {
    const markdown =
      '[a](docs/a.md#use) [b](../../LICENSE) ![c](./c.png) [d][d] [e](https://e.example/)\n\n[d]: d.md'
    expect(hrefsOf(markdown)).toEqual([
      `${folder}docs/a.md#use`,
      'https://github.com/acme/network/blob/v1.2.0/LICENSE',
      `${folder}c.png`,
      `${folder}d.md`,
      'https://e.example/',
    ])
  })

  it.each([
    '[a](/docs/a.md)',
    '[a](//evil.example)',
    '[a](\\\\evil.example)',
    '[a](<java\tscript:alert(1)>)',
    '[a](javascript:alert(1))',
    '[a](&#10;//evil.example)',
    '[a](file:c)',
  ])('renders the link %j as text', (markdown) => {
    expect(hrefsOf(markdown)).toEqual([])
  })

  it.each(hostileTexts.map((text) => [text.slice(0, 100), text] as const))(
    'renders nothing harmful of %j',
    (_start, markdown) => {
      expect(hrefsOf(markdown).filter((href) => !isHarmless(href))).toEqual([])
    },
  )
})

it('renders the callouts of the public registry only in pages of a provider', () => {
  const text = '-> **Note:** a\n\n~> b `c`\n\n!> d\n\n-> \n\na -> b'
  const quotes = (hasCallouts: boolean) =>
    elementsOf(drawMarkdown(text, { of: 'page', hrefOf: () => undefined, hasCallouts }).content)
      .filter((node) => typeof node !== 'string')
      .flatMap(({ type, props }) => (type === 'blockquote' ? [props['class']] : []))
  expect(quotes(true)).toEqual(['alert alert-note', 'alert alert-warning', 'alert alert-caution'])
  expect(quotes(false)).toEqual([])
})

it('renders the alerts of GitHub, and other quotes as quotes', () => {
  const quotes = (markdown: string) =>
    elementsOf(drawReadme(markdown).content).flatMap((node) =>
      typeof node !== 'string' && node.type === 'blockquote' ? [node.props['class'] ?? ''] : [],
    )
  expect(quotes('> [!NOTE]\n> Read *this*.')).toEqual(['alert alert-note'])
  expect(textOf('> [!NOTE]\n> Read *this*.')).toBe('NoteRead this.')
  expect(quotes('> [!Warning]\n>\n> - one')).toEqual(['alert alert-warning'])
  expect(quotes('> [!CAUTION]')).toEqual(['alert alert-caution'])
  expect(quotes('> [!NOTE] and more\n\n> [!constructor]\n> x')).toEqual(['', ''])
})

it('keeps the line breaks in a type that terraform-docs wrote', () => {
  const type = '<pre>map(object({<br>    cidr   = string<br/>    "*" = any<br>  }))</pre>'
  const markdown = `| Name | Type |\n|---|---|\n| a | ${type} |\n| b | <pre>open |`
  const code = elementsOf(drawReadme(markdown).content).filter(
    (node) => typeof node !== 'string' && node.props['class'] === 'lines',
  )
  expect(code).toEqual([
    {
      type: 'code',
      props: {
        class: 'lines',
        children: 'map(object({\n    cidr   = string\n    "*" = any\n  }))',
      },
    },
  ])
  expect(textOf(markdown)).toContain('open')
})

it('keeps line breaks and anchors of terraform-docs', () => {
  const markdown = '| n |\n|-|\n| <a name="input_a"></a> [a](#input\\_a) x<br>y<br/>z |'
  const drawn = elementsOf(drawReadme(markdown).content).filter((node) => typeof node !== 'string')
  expect(drawn.filter(({ type }) => type === 'br')).toHaveLength(2)
  expect(drawn.some(({ props }) => props['id'] === 'readme-input_a')).toBe(true)
  expect(drawn.some(({ props }) => props['href'] === '#readme-input_a')).toBe(true)
})

it('shows deeply nested parts as written, and renders the rest', () => {
  const deep = '> '.repeat(1000)
  expect(tagsOf(`# Fine\n\n${deep}\n\n## Fine too`)).toEqual(['h3', 'CodeBlock', 'h4'])
})

it('keeps a long table in one piece, and code as written', () => {
  // On a busy machine, rendering takes longer than the limit, after which the rest is shown as written.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const rows = Array.from({ length: 500 }, (_item, at) => `| input_${at} | [text][ref] | \`x\` |`)
  const code = `# not a heading\n\n${'x'.repeat(9000)}`
  const markdown = `| a | b | c |\n|---|---|---|\n${rows.join('\n')}\n\n\`\`\`hcl\n${code}\n\`\`\`\n\n[ref]: https://a.example`
  const drawn = elementsOf(drawReadme(markdown).content).filter((node) => typeof node !== 'string')
  expect(drawn.filter(({ type }) => type === 'table')).toHaveLength(1)
  expect(drawn.filter(({ type }) => type === 'tr')).toHaveLength(501)
  expect(drawn.filter(({ props }) => props['href'] === 'https://a.example/')).toHaveLength(500)
  expect(drawn.find(({ type }) => type === 'CodeBlock')?.props['text']).toBe(code)
})

it('shows the rest as written if parsing takes too long', () => {
  const began = cpuTimeMs()
  const { content } = drawReadme(`${'- a\n  - *b*\n'.repeat(20_000)}\n\nthe end`)
  expect(cpuTimeMs() - began).toBeLessThan(6000)
  const last = elementsOf(content).findLast((node) => typeof node !== 'string')
  expect(String(last?.props['text'] ?? last?.props['children'])).toContain('the end')
})
