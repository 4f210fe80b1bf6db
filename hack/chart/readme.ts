import type { Value } from './value.ts'
import type { Section } from './values.ts'

const opening = `# Chart depot

This chart installs the registry: server, controller, explorer, a broker for logins (Dex) and Valkey for download counts.

\`\`\`sh
helm install depot config/chart --namespace depot-system --create-namespace
\`\`\`

[docs/install.md](../../docs/install.md) leads from there to production. If values contradict each other, rendering
fails and reports all contradictions at once.
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
