import { describe, expect, it } from 'vitest'
import { markedParts, matchedFields } from './marked.tsx'

describe('the marks of a match', () => {
  it.each([
    ['aws_flow_log', 'flow log', ['aws_', 'flow', '_', 'log', '']],
    ['network/vpc-flow-logs', 'FLOW', ['network/vpc-', 'flow', '-logs']],
    ['flow_log_arn', 'flow flow_log', ['', 'flow_log', '_arn']],
    ['overflow', 'flow', ['overflow']],
    ['İstanbul vpc', 'vpc', ['İstanbul ', 'vpc', '']],
    ['a.b', '.* (', ['a.b']],
    ['subnets', 'subnest', ['subnets']],
  ])('are in %j for %j', (text, typed, parts) => {
    expect(markedParts(text, typed)).toEqual(parts)
  })
})

describe('the matched fields', () => {
  it('are the first texts of two fields, without what the address shows', () => {
    const matched = [
      { field: 'name', text: 'vpc' },
      { field: 'input', text: 'vpc_id' },
      { field: 'input', text: 'vpc_cidr' },
      { field: 'output', text: 'vpc_arn' },
      { field: 'heading', text: 'A VPC' },
    ] as const
    expect(matchedFields(matched, 'network/vpc', 'vpc')).toEqual({
      fields: [
        { label: 'Input', text: 'vpc_id' },
        { label: 'Output', text: 'vpc_arn' },
      ],
      hasMore: true,
    })
    expect(matchedFields(matched.slice(0, 1), 'network/vpc', 'vpc')).toEqual({
      fields: [],
      hasMore: false,
    })
  })

  const excerptOf = (text: string) =>
    matchedFields([{ field: 'description', text }], 'a/b', 'gateway').fields[0]?.text

  it('show a long text around its first match', () => {
    const text = `${'before '.repeat(30)}gateway ${'after '.repeat(30)}`.trim()
    expect(excerptOf(text)).toMatch(/^… (?:before )+gateway (?:after )+…$/)
    expect(excerptOf(text)?.length).toBeLessThan(120)
  })

  it.each([
    ['without spaces', `${'x'.repeat(150)}/gateway/${'y'.repeat(150)}`],
    [
      'with its only spaces close to the match',
      `${'x'.repeat(70)} ${'y'.repeat(30)}-gateway and on`,
    ],
    ['without a match', 'word '.repeat(60).trim()],
  ])('keep the match of a long text %s', (_, text) => {
    expect(excerptOf(text)?.includes('gateway')).toBe(text.includes('gateway'))
    expect(text).toContain(excerptOf(text)?.replace(/ …$/, ''))
  })
})
