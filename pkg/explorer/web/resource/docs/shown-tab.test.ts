import { expect, it } from 'vitest'
import { resourceParams } from '../../url/pages.ts'
import { parse } from '../../url/search-params.ts'
import { readmeValues, shownTab, tabOfSection } from './shown-tab.ts'

const valuesOf = (search: string) => parse(resourceParams, new URLSearchParams(search))
const module = { kind: 'module', hasDocs: true } as const

it.each([
  ['', ''],
  ['version=1.0.0', ''],
  ['v_page=2', 'versions'],
  ['v_q=1.2', 'versions'],
  ['f_severity=CRITICAL', 'findings'],
  ['tab=inputs&v_page=2', 'inputs'],
])('shows the tab %j for ?%s', (search, tab) => {
  expect(shownTab(module, valuesOf(search))).toBe(tab)
  expect(shownTab({ kind: 'provider', hasDocs: undefined }, valuesOf(search))).toBe('')
})

it('links to the README whatever filters the URL has', () => {
  const values = valuesOf('version=1.0.0&v_page=2&f_severity=CRITICAL&tab=versions')
  const next = { ...valuesOf(''), ...readmeValues(values) }
  expect(next).toEqual(valuesOf('version=1.0.0'))
  expect(shownTab(module, next)).toBe('')
})

it('knows the tab of a section that old links name', () => {
  expect(['versions', 'downloads', 'findings', 'readme-a'].map(tabOfSection)).toEqual([
    'versions',
    'versions',
    'findings',
    '',
  ])
})
