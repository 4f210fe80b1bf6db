import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PublishRight, PublishRights } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Icon } from '../parts/icon.tsx'
import { Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { navigate } from '../url/navigate.ts'
import { type PublishValues, publishHref, publishParams, publishRightsUrl } from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { type Mistake, mistakeIn, namesOf } from './address.ts'
import { Free, useAddress } from './free.tsx'
import { Nowhere } from './nowhere.tsx'
import { Ways } from './ways.tsx'

/** Three ways to publish, with the commands for a namespace that the caller may publish to. */
export function PublishPage({ search }: { readonly search: URLSearchParams }) {
  const query = useQuery<PublishRights>(publishRightsUrl)
  return (
    <>
      <PageHead title="Publish" />
      <div class="lone wide">
        <Region query={query} what="Where you may publish" skeleton={12}>
          {(rights) =>
            rights.items.length === 0 ? (
              <Nowhere />
            ) : (
              <Somewhere rights={rights} values={parse(publishParams, search)} />
            )
          }
        </Region>
      </div>
    </>
  )
}

const waitMs = 250

/** Keeps the typed values, and writes them into the URL when the person stops typing. */
function useTyped(values: PublishValues) {
  const [typed, setTyped] = useState(values)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (changed: Partial<PublishValues>): void => {
    const next = { ...typed, ...changed }
    setTyped(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => navigate(publishHref(next), 'replace'), waitMs)
  }
  return { typed, change }
}

function Somewhere({ rights, values }: { rights: PublishRights; values: PublishValues }) {
  const { items, overHttp } = rights
  const { typed, change } = useTyped(values)
  const right = items.find(({ namespace }) => namespace === typed.namespace) ?? items[0]
  const namespace = right?.namespace ?? ''
  const filled = { ...typed, namespace }
  const mistake = mistakeIn(filled)
  const found = useAddress({ ...values, namespace })
  return (
    <>
      <p class="quiet intro">
        You may publish to <Namespaces items={items} />. The commands below are filled in for you.
      </p>
      <form class="fillin" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="group kindpick">
          <legend class="vh">What</legend>
          {(['module', 'provider'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              class="btn"
              aria-pressed={typed.kind === kind}
              onClick={() => change({ kind })}
            >
              <Icon name={kind} />
              {kind === 'module' ? 'Module' : 'Provider'}
            </button>
          ))}
        </fieldset>
        <label>
          <span>Namespace</span>
          <Pick
            label="Namespace"
            value={namespace}
            options={items.map((it) => [it.namespace, it.namespace] as const)}
            tinted={false}
            onChoose={(chosen) => change({ namespace: chosen })}
          />
        </label>
        <Field
          words="Name"
          field="name"
          example={typed.kind === 'module' ? 'vpc' : 'cmdb'}
          {...{ typed, mistake, change }}
        />
        {typed.kind === 'module' && (
          <Field words="System" field="system" example="aws" {...{ typed, mistake, change }} />
        )}
        <Field words="Version" field="version" example="1.0.0" {...{ typed, mistake, change }} />
      </form>
      {right !== undefined && <Names kind={typed.kind} right={right} />}
      <Free values={filled} mistake={mistake} found={found} />
      <Ways filled={{ ...filled, object: found.object }} overHttp={overHttp} />
    </>
  )
}

/** Formats `a, b and c`. */
function Namespaces({ items }: Pick<PublishRights, 'items'>) {
  const shown = items.slice(0, 5)
  const left = items.length - shown.length
  const last = shown.length - 1
  return (
    <>
      {shown.map(({ namespace }, at) => (
        <Fragment key={namespace}>
          {at > 0 && (at === last && left === 0 ? ' and ' : ', ')}
          <b>{namespace}</b>
        </Fragment>
      ))}
      {left > 0 && ` and ${left} more`}
    </>
  )
}

interface FieldProps {
  readonly words: string
  readonly field: Mistake['field']
  readonly example: string
  readonly typed: PublishValues
  readonly mistake: Mistake | undefined
  readonly change: (changed: Partial<PublishValues>) => void
}

const Field = ({ words, field, example, typed, mistake, change }: FieldProps) => (
  <label>
    <span>{words}</span>
    <span class="field">
      <input
        class="mono"
        placeholder={example}
        autoComplete="off"
        spellcheck={false}
        maxLength={128}
        value={typed[field]}
        {...(mistake?.field === field && {
          'aria-invalid': true,
          'aria-describedby': 'publish-note',
        })}
        onInput={(event) => change({ [field]: event.currentTarget.value.trim() })}
      />
    </span>
  </label>
)

/** Names that the right is for, unless it is for all. */
function Names({ kind, right }: { readonly kind: string; readonly right: PublishRight }) {
  const names = namesOf(kind, right)
  if (names.includes('*')) return null
  const objects = kind === 'module' ? 'Modules' : 'Providers'
  return (
    <p class="quiet names">
      {names.length === 0 ? (
        <>
          You may not publish {kind}s to {right.namespace}: no pattern of your GroupBinding is for{' '}
          {objects}.
        </>
      ) : (
        <>
          In {right.namespace}, you may publish {objects} with these names:{' '}
          {names.map((name) => (
            <Fragment key={name}>
              <span class="tag mono">{name}</span>{' '}
            </Fragment>
          ))}
        </>
      )}
    </p>
  )
}
