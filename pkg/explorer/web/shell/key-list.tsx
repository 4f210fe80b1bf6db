import { useState } from 'preact/hooks'
import { IconButton } from '../parts/icon.tsx'
import { Dialog } from './dialog.tsx'
import { places } from './places.ts'
import { readChoice, writeChoice } from './storage.ts'

const keys = (): readonly (readonly [keys: readonly string[], words: string])[] => [
  [['Ctrl', 'K'], 'Go to a module, provider or page'],
  [['/'], 'Search on this page'],
  ...places().flatMap(({ key, words }) => (key ? [[['g', key], words] as const] : [])),
  [['?'], 'This list'],
  [['Esc'], 'Close what is open'],
]

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const [on, setOn] = useState(readChoice('keys') !== 'off')
  return (
    <Dialog label="Keys" class="keylist" onClose={onClose}>
      <form method="dialog">
        <header>
          <h2>Keys</h2>
          <IconButton type="submit" icon="close" words="Close" look="bare small" />
        </header>
        <dl class="facts-list one">
          {keys().map(([combination, words]) => (
            <div key={words}>
              <dt>
                {combination.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <label class="check">
          <input
            type="checkbox"
            checked={on}
            onChange={(event) => {
              setOn(event.currentTarget.checked)
              writeChoice('keys', event.currentTarget.checked ? 'on' : 'off')
            }}
          />
          Shortcuts without Ctrl
        </label>
      </form>
    </Dialog>
  )
}
