import { useEffect, useRef, useState } from 'preact/hooks'
import type { BrowseApiError } from '../api/client.ts'
import type { Query } from '../api/use-query.ts'
import { copyText, notCopied } from '../parts/copy-button.tsx'
import { sentence } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { LookedAt } from '../parts/looked-at.tsx'
import { Marked, MarkedWords, Matched } from '../parts/marked.tsx'
import { navigate } from '../url/navigate.ts'
import { Dialog } from './dialog.tsx'
import type { Group, Hit } from './palette-hits.ts'
import { type Suggestions, useSuggestions } from './suggestions.ts'

interface Props {
  readonly onClose: () => void
  readonly onKeys: () => void
}

/** Finds a module, provider or page by its name or documentation, without the mouse. */
export function Palette({ onClose, onKeys }: Props) {
  const [typed, setTyped] = useState('')
  const [block, setBlock] = useState('')
  const [chosen, setChosen] = useState(0)
  const [outcome, setOutcome] = useState('')
  const found = useSuggestions(typed, block)
  const hits = found.groups.flatMap((group) => group.hits)
  const at = Math.min(chosen, hits.length - 1)
  const open = (hit: Hit | undefined, newTab: boolean): void => {
    if (hit === undefined) return
    if (hit.copies !== undefined) {
      void copyText(hit.copies).then((isCopied) => setOutcome(isCopied ? 'Copied.' : notCopied))
    } else if (newTab) window.open(hit.href, '_blank', 'noopener')
    else {
      onClose()
      goTo(hit.href)
    }
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen((at + step + hits.length) % Math.max(hits.length, 1))
    else if (event.key === 'Enter') open(hits[at], event.ctrlKey || event.metaKey)
    else if (event.key === '?' && typed === '') onKeys()
    else return
    event.preventDefault()
  }
  const onType = (text: string): void => {
    setTyped(text)
    setChosen(0)
    setOutcome('')
  }
  return (
    <Dialog label="Go to" class="palette" onClose={onClose}>
      <Field
        typed={typed}
        active={hits.length > 0 ? `hit-${at}` : undefined}
        onType={onType}
        onPaste={setBlock}
        onKey={onKey}
      />
      <Hits groups={found.groups} chosen={hits[at]} typed={found.text} open={open} />
      <Said found={found} outcome={outcome} />
      <Keys count={found.count} />
    </Dialog>
  )
}

function goTo(href: string): void {
  if (href.startsWith('/auth/')) location.assign(href)
  else {
    navigate(href)
    scrollTo(0, 0)
  }
}

interface FieldProps {
  readonly typed: string
  /** Id of the chosen suggestion. */
  readonly active: string | undefined
  readonly onType: (text: string) => void
  /** Called with the lines of the pasted text, which the field joins. */
  readonly onPaste: (text: string) => void
  readonly onKey: (event: KeyboardEvent) => void
}

const Field = ({ typed, active, onType, onPaste, onKey }: FieldProps) => (
  <div class="ask">
    <Icon name="search" />
    <input
      type="text"
      role="combobox"
      aria-label="Go to a module, provider or page"
      aria-expanded="true"
      aria-controls="hits"
      aria-autocomplete="list"
      aria-activedescendant={active}
      placeholder="Module, provider or page"
      autoComplete="off"
      spellcheck={false}
      autofocus
      value={typed}
      onInput={(event) => onType(event.currentTarget.value)}
      onPaste={(event) => onPaste(event.clipboardData?.getData('text/plain') ?? '')}
      onKeyDown={onKey}
    />
    <kbd>Esc</kbd>
  </div>
)

/** Remarks on the suggestions, and on a copied text. */
function Said({ found, outcome }: { readonly found: Suggestions; readonly outcome: string }) {
  const { asked, error, refetch, isEmpty, isAbsent } = found
  const isShown = isEmpty || isAbsent || outcome !== ''
  return (
    <>
      {error !== undefined && <Failed error={error} refetch={refetch} />}
      <p class={isShown ? 'none quiet' : 'vh'} role="status">
        {outcome}
        {isAbsent && <strong>{asked} is not in this registry, or not visible to you. </strong>}
        {isEmpty && !isAbsent && <strong>Nothing matches “{asked}”. </strong>}
        {isEmpty && <LookedAt access="Access" />}
      </p>
    </>
  )
}

const Keys = ({ count }: { readonly count: string }) => (
  <div class="keys">
    <span>
      <kbd>↑</kbd> <kbd>↓</kbd> choose
    </span>
    <span>
      <kbd>Enter</kbd> open
    </span>
    <span>
      <kbd>Ctrl Enter</kbd> new tab
    </span>
    <span>
      <kbd>?</kbd> all keys
    </span>
    <span class="end" role="status">
      {count}
    </span>
  </div>
)

interface HitsProps {
  readonly groups: readonly Group[]
  readonly chosen: Hit | undefined
  readonly typed: string
  readonly open: (hit: Hit, newTab: boolean) => void
}

function Hits({ groups, chosen, ...props }: HitsProps) {
  const list = useRef<HTMLDivElement>(null)
  const hits = groups.flatMap((group) => group.hits)
  const at = chosen === undefined ? -1 : hits.indexOf(chosen)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div class="hits" id="hits" ref={list} role="listbox" aria-label="Results">
      {groups.map(({ label, hits: own }) => (
        <div key={label} role="group" aria-label={label}>
          <div class="glabel" aria-hidden="true">
            {label}
          </div>
          {own.map((hit) => (
            <Option
              key={`${hit.href} ${hit.words}`}
              hit={hit}
              id={`hit-${hits.indexOf(hit)}`}
              isChosen={hit === chosen}
              {...props}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

interface OptionProps extends Pick<HitsProps, 'typed' | 'open'> {
  readonly hit: Hit
  readonly id: string
  readonly isChosen: boolean
}

function Option({ hit, id, isChosen, typed, open }: OptionProps) {
  return (
    <div
      class="hit"
      role="option"
      id={id}
      aria-selected={isChosen}
      onClick={(event) => open(hit, event.ctrlKey || event.metaKey)}
    >
      <Icon name={hit.icon} />
      <span class={hit.isAddress === true ? 'mono' : ''}>
        {hit.matched === undefined ? (
          <Marked words={hit.words} typed={typed} />
        ) : (
          <MarkedWords text={hit.words} typed={typed} />
        )}
        {hit.said !== undefined && <span class="matched">{hit.said}</span>}
        {hit.matched !== undefined && (
          <Matched matched={hit.matched} address={hit.words} typed={typed} />
        )}
      </span>
      <span class="end">
        {hit.outOfSync === true && (
          <>
            <Icon name="warn" tone="c-warn" />
            <Hidden>out of sync</Hidden>
          </>
        )}
        {hit.isAddress === true ? <code>{hit.note}</code> : hit.note}
      </span>
    </div>
  )
}

/** Says what to do about a failed search. The pages are offered above it. */
function Failed({ error, refetch }: { error: BrowseApiError } & Pick<Query<unknown>, 'refetch'>) {
  const isDenied = error.status === 401 || error.status === 403
  return (
    <div class="none" role="alert">
      <p>
        {sentence(error.message)}
        {isDenied && ' Open Access: it says who you are for this registry and which rule applies.'}
        {error.retryAfterSeconds !== undefined && ' The search is repeated by itself.'}
      </p>
      {!isDenied && error.status !== 400 && error.retryAfterSeconds === undefined && (
        <button type="button" class="btn" onClick={refetch}>
          Retry
        </button>
      )}
    </div>
  )
}
