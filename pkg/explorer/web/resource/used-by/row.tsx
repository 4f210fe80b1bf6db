import type { ConsumerList } from '../../api/records.ts'
import { plural } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { StateMark } from '../../parts/reason-mark.tsx'
import { SeverityCounts } from '../../parts/severity-counts.tsx'
import { Cell, RowHead } from '../../parts/table.tsx'

type Consumer = ConsumerList['items'][number]

/** Number of versions of a consumer that are shown at first. Some use dozens. */
const atOnce = 5

/** A consumer, and each version that it downloaded. */
export function ConsumerRow({ item }: { readonly item: Consumer }) {
  const { consumer, versions, behind, lastUsed } = item
  const { name, words, icon } = partsOf(consumer)
  const left = versions.slice(atOnce)
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="addr">
          <Icon name={icon} />
          <span>
            <bdi>
              <b>{name}</b>
            </bdi>
            <span class="kindly">{words}</span>
          </span>
        </span>
      </RowHead>
      <Cell label="Uses" class="full">
        <div class="uses">
          <Uses versions={versions.slice(0, atOnce)} lastUsed={lastUsed} />
          {left.length > 0 && (
            <details class="fold">
              <summary>
                <Icon name="right" />
                {plural(left.length, 'older version')}
              </summary>
              <Uses versions={left} lastUsed={lastUsed} />
            </details>
          )}
        </div>
      </Cell>
      <Cell label="Behind" class="nowrap">
        {behind === 0 ? <span class="quiet">Latest</span> : plural(behind, 'release')}
      </Cell>
      <Cell label="Last seen" class="nowrap">
        <time>{lastUsed}</time>
      </Cell>
    </tr>
  )
}

const Uses = ({ versions, lastUsed }: Pick<Consumer, 'versions' | 'lastUsed'>) => (
  <ul>
    {versions.map(({ version, days, state, critical, lastUsed: last }) => (
      <li key={version}>
        <code>{version}</code>
        {state !== undefined && <StateMark state={state} />}
        {critical !== undefined && <SeverityCounts counts={{ ...none, critical }} />}
        <span class="quiet">
          {plural(days, 'day')}
          {last !== lastUsed && `, last on ${last}`}
        </span>
      </li>
    ))}
  </ul>
)

const none = { high: 0, medium: 0, low: 0, unknown: 0 }

/** Words and icons of the kinds of consumers. */
const kinds: ReadonlyMap<string, readonly [words: string, icon: string]> = new Map([
  ['serviceaccount', ['service account', 'key']],
  ['client', ['program', 'key']],
  ['group', ['group', 'user']],
  ['person', ['person', 'user']],
])

function partsOf(consumer: string) {
  if (consumer === '(others)') {
    return { name: 'others', words: 'all after the first 1,000', icon: 'user' }
  }
  const [, prefix = '', rest = ''] = /^([^:]*):(.*)$/s.exec(consumer) ?? []
  const [words, icon] = kinds.get(prefix) ?? ['', 'user']
  return { name: words === '' ? consumer : rest, words, icon }
}
