import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('a theme changes nothing but colours', () => {
  const sheets = globSync(`${import.meta.dirname}/**/*.css`)
  const texts = sheets.map((path) => readFileSync(path, 'utf8')).join('\n')
  const blocks = texts.matchAll(/\[data-theme=[^{]*\{([^}]*)\}/g)
  const declarations = blocks.map(([, block = '']) => block.trim()).toArray()
  expect(declarations).toEqual(['color-scheme: light;', 'color-scheme: dark;'])
  expect(texts).not.toContain('prefers-color-scheme')
})
