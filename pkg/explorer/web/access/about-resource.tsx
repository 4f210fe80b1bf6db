import { useState } from 'preact/hooks'
import { boot } from '../api/boot.ts'
import type { WhoAmI } from '../api/records.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Section } from '../parts/section.tsx'
import { navigate } from '../url/navigate.ts'
import { accessHref, resourceHref } from '../url/pages.ts'

interface Asked {
  readonly namespace: string
  readonly kind: 'module' | 'provider'
  readonly name: string
}

const label = 'depot.internal/public=true'

/** Parses `namespace/kind/name` with names that clusters allow; undefined for anything else. */
function readAddress(text: string): Asked | undefined {
  const found = /^([a-z0-9-]{1,63})\/(module|provider)\/([a-z0-9.-]{1,253})$/.exec(text.trim())
  const [, namespace, kind, name] = found ?? []
  if (namespace === undefined || name === undefined) return undefined
  return { namespace, kind: kind === 'provider' ? 'provider' : 'module', name }
}

/** Explains how a resource becomes visible, without revealing whether it exists. */
export function AboutResource(props: { resource: string; who: WhoAmI | undefined }) {
  const { resource, who } = props
  const [typed, setTyped] = useState(resource)
  const asked = readAddress(resource)
  return (
    <Section id="one" words="What about one resource?">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          navigate(accessHref({ resource: typed.trim() }))
        }}
      >
        <label class="field search">
          <Icon name="search" />
          <Hidden>Resource address</Hidden>
          <input
            class="mono"
            placeholder="namespace/module/name"
            autoComplete="off"
            spellcheck={false}
            maxLength={253}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="btn">
          Explain
        </button>
      </form>
      {resource !== '' && asked === undefined && (
        <p class="mt" role="alert">
          That is not an address. Type namespace, module or provider, and name, such as{' '}
          <code>network/module/vpc</code>.
        </p>
      )}
      {asked !== undefined &&
        (who?.kind === 'anonymous' ? <Open asked={asked} /> : <Ways asked={asked} who={who} />)}
    </Section>
  )
}

/** For a registry that shows everything, where labels and bindings have no effect. */
const Open = ({ asked }: { readonly asked: Asked }) => (
  <p class="mt">
    This registry shows everything to everyone. If it exists, it is at{' '}
    <a href={resourceHref(asked)}>
      <code>
        {asked.namespace}/{asked.kind}/{asked.name}
      </code>
    </a>
    .
  </p>
)

function Ways({ asked, who }: { readonly asked: Asked; readonly who: WhoAmI | undefined }) {
  const { namespace, kind, name } = asked
  const identity = boot.email ?? boot.name ?? who?.subject
  const binding = who?.binding
  const field = kind === 'module' ? 'moduleResources' : 'providerResources'
  const request = [
    `Please let me see ${namespace}/${kind}/${name} in Depot.`,
    identity === undefined ? 'I am not signed in.' : `I am signed in as ${identity}.`,
    binding === undefined
      ? 'No group binding matches me.'
      : `I match the group binding ${binding.name}.\nIts ${field} would need: ${name}`,
  ].join('\n')
  return (
    <>
      <p class="mt quiet">
        Depot does not tell whether it exists. If it does, either of the first two would show it to
        you:
      </p>
      <ol class="ways">
        <li>
          <h3>It is made public</h3>
          <p>Both labels, on the namespace and on the resource.</p>
          <CodeBlock
            what="label commands"
            text={`kubectl label namespace ${namespace} ${label}\nkubectl label ${kind} ${name} -n ${namespace} ${label}`}
          />
        </li>
        <li>
          <h3>A group binding allows it</h3>
          {binding === undefined ? (
            <p>
              No group binding matches you. One that does would have to include <code>{name}</code>{' '}
              or a pattern for it in <code>{field}</code>.
            </p>
          ) : (
            <p>
              The first binding that matches you is <code>{binding.name}</code>. Its{' '}
              <code>{field}</code> would have to include a pattern such as <code>{name}</code>. A
              binding further down the list would not help: only the first match counts.
            </p>
          )}
        </li>
        <li>
          <h3>Ask for it</h3>
          <CodeBlock what="text for the platform team" text={request} />
        </li>
      </ol>
    </>
  )
}
