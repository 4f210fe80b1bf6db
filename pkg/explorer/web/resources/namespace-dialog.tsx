import { useState } from 'preact/hooks'
import { Dialog } from '../shell/dialog.tsx'

interface Props {
  readonly onClose: () => void
  readonly onName: (name: string) => void
}

/** Private namespaces are not listed, so people type their names. */
export function NamespaceDialog({ onClose, onName }: Props) {
  const [name, setName] = useState('')
  return (
    <Dialog label="Another namespace" class="ask-name" onClose={onClose}>
      <form
        method="dialog"
        onSubmit={() => {
          if (name.trim() !== '') onName(name.trim())
        }}
      >
        <h2>Another namespace</h2>
        <p class="quiet">Only public namespaces are listed. Type the name of any other.</p>
        <label class="field">
          <span class="vh">Namespace</span>
          <input
            type="text"
            autofocus
            autoComplete="off"
            spellcheck={false}
            maxLength={63}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="submit" class="btn main">
            Filter
          </button>
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
