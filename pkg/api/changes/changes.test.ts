import { expect, it } from 'vitest'
import { comparisonMarkdown } from './changes.ts'

it('writes a comparison as Markdown in which no text of a module has an effect', () => {
  const change = { kind: 'input', path: 'modules/a', name: 'x_y' } as const
  const hostile = 'It is <b>`|\u001b[31m\u202e\nnow, @org/team &#64;you a@1 #12.'
  expect(
    comparisonMarkdown({
      from: '1.0.0',
      to: '1.1.0',
      verdict: 'breaking',
      changes: [
        { ...change, verdict: 'breaking', why: hostile },
        { kind: 'requiredVersion', path: '', name: 'x', verdict: 'compatible', why: 'It is.' },
      ],
      readme: 'same',
      dependencies: [],
    }),
  ).toBe(
    [
      '### 1.0.0 to 1.1.0: breaking',
      '',
      '**Breaking**',
      '',
      '| | |',
      '| --- | --- |',
      String.raw`| modules/a: input x\_y | It is &lt;b>\`\|\[31m now, @&#8203;org/team &amp;#&#8203;64;you a@1 #&#8203;12. |`,
      '',
      '**Compatible**',
      '',
      '| | |',
      '| --- | --- |',
      '| x | It is. |',
      '',
    ].join('\n'),
  )
})
