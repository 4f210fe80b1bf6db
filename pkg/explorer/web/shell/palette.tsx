import { useEffect, useRef, useState } from 'preact/hooks'
import type { BrowseApiError } from '../api/client.ts'
import type { ResourceDetail, SearchResults } from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { number, plural, sentence } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { LookedAt } from '../parts/looked-at.tsx'
import { Marked, MarkedWords, Matched } from '../parts/marked.tsx'
import { navigate } from '../url/navigate.ts'
import { detailUrl, isSearched, searchUrl } from '../url/pages.ts'
import { Dialog } from './dialog.tsx'
import { type FoundResource, type Hit, hitsFor } from './palette-hits.ts'
import { pastedSource } from './pasted.ts'

const waitMs = 120

interface Props {
  readonly onClose: () => void
  readonly onKeys: () => void
}

/** Finds a module, provider or page by its name or documentation, without the mouse. */
export function Palette({ onClose, onKeys }: Props) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const source = pastedSource(typed)
  const text = source?.address ?? typed.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.slice(0, 253)), waitMs)
    return () => clearTimeout(timer)
  }, [text])
  const isAsked = isSearched(asked) && isSearched(text)
  const found = useQuery<SearchResults>(isAsked ? searchUrl(asked) : undefined)
  const { error } = found
  const results = isAsked && error === undefined ? found.data : undefined
  const isEmpty = results?.items.length === 0 && !found.previous
  const isFailed = isAsked && error !== undefined
  const item = results?.items.find(
    ({ namespace, address }) => `${namespace}/${address}` === source?.address,
  )
  const isAbsent =
    source !== undefined &&
    item === undefined &&
    results !== undefined &&
    !found.previous &&
    asked === text
  const { data: detail } = useQuery<ResourceDetail>(item && detailUrl(item, ''))
  const groups = hitsFor({
    typed: text,
    found: results?.items ?? [],
    pasted: item && {
      item,
      version: source?.version,
      folder: source?.folder,
      detail: ownDetail(detail, item),
    },
    allPages: isEmpty || isFailed,
  })
  const hits = groups.flatMap((group) => group.hits)
  const at = Math.min(chosen, hits.length - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at])

  const open = (hit: Hit | undefined, newTab: boolean): void => {
    if (hit === undefined) return
    if (newTab) {
      window.open(hit.href, '_blank', 'noopener')
      return
    }
    onClose()
    if (hit.href.startsWith('/auth/')) location.assign(hit.href)
    else {
      navigate(hit.href)
      scrollTo(0, 0)
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
  return (
    <Dialog label="Go to" class="palette" onClose={onClose}>
      <div class="ask">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Go to a module, provider or page"
          aria-expanded="true"
          aria-controls="hits"
          aria-autocomplete="list"
          aria-activedescendant={hits.length > 0 ? `hit-${at}` : undefined}
          placeholder="Module, provider or page"
          autoComplete="off"
          spellcheck={false}
          autofocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="hits" id="hits" ref={list} role="listbox" aria-label="Results">
        {groups.map(({ label, hits: own }) => (
          <div key={label} role="group" aria-label={label}>
            <div class="glabel" aria-hidden="true">
              {label}
            </div>
            {own.map((hit) => (
              <Option
                key={hit.href}
                hit={hit}
                at={hits.indexOf(hit)}
                chosen={at}
                typed={text}
                open={open}
              />
            ))}
          </div>
        ))}
      </div>
      {isFailed && <Failed error={error} refetch={found.refetch} />}
      <p class={isEmpty || isAbsent ? 'none quiet' : 'vh'} role="status">
        {isAbsent && <strong>{asked} is not in this registry, or not visible to you. </strong>}
        {isEmpty && !isAbsent && <strong>Nothing matches “{asked}”. </strong>}
        {isEmpty && <LookedAt access="Access" />}
      </p>
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
          {results !== undefined && !isEmpty && !found.previous && counted(results)}
        </span>
      </div>
    </Dialog>
  )
}

interface OptionProps {
  readonly hit: Hit
  readonly at: number
  readonly chosen: number
  readonly typed: string
  readonly open: (hit: Hit, newTab: boolean) => void
}

function Option({ hit, at, chosen, typed, open }: OptionProps) {
  return (
    <div
      class="hit"
      role="option"
      id={`hit-${at}`}
      aria-selected={at === chosen}
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

/** The answer of an earlier question is shown until the next one arrives. */
const ownDetail = (detail: ResourceDetail | undefined, item: FoundResource) =>
  detail?.namespace === item.namespace && detail.address === item.address ? detail : undefined

/** Results may be missing if the words match too much. */
const counted = ({ items, totalCount, isTruncated }: SearchResults): string =>
  totalCount > items.length || isTruncated === true
    ? `${items.length} of ${isTruncated === true ? 'more than ' : ''}${number(totalCount)}`
    : plural(totalCount, 'result')

/** Says what to do about a failed search; the pages are offered above it. */
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
