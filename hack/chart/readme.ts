import type { Value } from './value.ts'
import type { Section } from './values.ts'

const opening = `# Chart depot

Brings the registry into a cluster: server, explorer, a broker for logins (Dex) and Valkey for the counters.

\`\`\`sh
helm install depot config/chart --namespace depot-system --create-namespace
\`\`\`

[docs/install.md](../../docs/install.md) leads from there to production; what the values must fulfil together is
checked when the chart renders, all at once.
`

/** README.md of the chart: a table of values for each section. */
export function readmeOf(sections: readonly Section[]): string {
  const tables = sections
    .map(({ title, values }) => ({ title, values: values.filter((value) => !value.retired) }))
    .filter(({ values }) => values.length > 0)
    .map(({ title, values }) =>
      [
        `## ${title}`,
        '',
        '| value | default | meaning |',
        '| --- | --- | --- |',
        ...values.map(line),
      ].join('\n'),
    )
  return `${[opening, ...tables].join('\n\n').replaceAll('\n\n\n', '\n\n')}\n`
}

function line({ name, default: initial, meaning }: Value): string {
  return `| \`${name}\` | \`${JSON.stringify(initial).replaceAll('|', '\\|')}\` | ${meaning} |`
}
