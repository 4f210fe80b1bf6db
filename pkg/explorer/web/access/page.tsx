import { useState } from 'preact/hooks'
import { boot } from '../api/boot.ts'
import type { WhoAmI } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { ErrorCard } from '../parts/error-card.tsx'
import { Fact } from '../parts/fact.tsx'
import { plural } from '../parts/format.ts'
import { Section } from '../parts/section.tsx'
import { Lines } from '../parts/skeleton.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { loginHref, signOut } from '../shell/session.ts'
import { accessParams, whoAmIUrl } from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { AboutResource } from './about-resource.tsx'

/** The caller as the registry sees them, and what they may see. */
export function AccessPage({ search }: { readonly search: URLSearchParams }) {
  const { resource } = parse(accessParams, search)
  const who = useQuery<WhoAmI>(whoAmIUrl)
  const absent = who.error?.status === 404
  return (
    <>
      <PageHead title="Access" />
      <div class="lone wide">
        <p class="quiet">Who Depot thinks you are, and which rule decides what you see.</p>
        <You who={who.data} />
        {who.data !== undefined && <Rule who={who.data} />}
        {who.data === undefined && who.error === undefined && <Lines count={6} />}
        {who.error !== undefined && !absent && (
          <section class="sec" aria-label="The rule that applies">
            <ErrorCard error={who.error} what="The rule that applies" refetch={who.refetch} />
          </section>
        )}
        <AboutResource key={resource} resource={resource} who={who.data} />
      </div>
    </>
  )
}

const modes: Readonly<Record<string, string>> = {
  anonymous: 'Anonymous: the registry does not ask who callers are',
  guest: 'OIDC, without a token',
  oidc: 'OIDC',
  bearer: 'Token of a service account',
}

function You({ who }: { readonly who: WhoAmI | undefined }) {
  const identity = boot.email ?? boot.name ?? who?.subject
  return (
    <Section id="me" words="You" end={<SignInOrOut />}>
      <dl class="facts-list one">
        <Fact words="Signed in as">
          {identity ?? <span class="quiet">not signed in</span>}
          {boot.devTokenInUse && <span class="tag">developer token</span>}
        </Fact>
        {who !== undefined && (
          <Fact words="Mode">
            {modes[who.kind] ?? modes[who.mode] ?? who.mode}
            {boot.issuer !== undefined && (
              <span>
                issuer <code>{boot.issuer}</code>
              </span>
            )}
          </Fact>
        )}
        {who !== undefined && who.groups.length > 0 && (
          <Fact words="Groups">
            <Names names={who.groups} />
          </Fact>
        )}
        {boot.endsAt !== undefined && (
          <Fact words="Session ends">
            <TimeAgo at={boot.endsAt} />
          </Fact>
        )}
      </dl>
    </Section>
  )
}

const SignInOrOut = () =>
  boot.signedIn ? (
    <button type="button" class="btn" onClick={() => void signOut().catch(() => undefined)}>
      Sign out
    </button>
  ) : boot.oidc ? (
    <a class="btn main" href={loginHref()}>
      Sign in
    </a>
  ) : null

function Rule({ who }: { readonly who: WhoAmI }) {
  const { binding, failedBinding } = who
  return (
    <Section id="rule" words="The rule that applies">
      <p>You see {who.access}.</p>
      <div class="gap" />
      {binding !== undefined && (
        <dl class="facts-list one">
          <Fact words="Group binding">
            <code>{binding.name}</code>
            <span class="quiet">first match, by name</span>
          </Fact>
          <Fact words="Modules">
            <Patterns patterns={binding.moduleResources} all="all modules" />
          </Fact>
          <Fact words="Providers">
            <Patterns patterns={binding.providerResources} all="all providers" />
          </Fact>
        </dl>
      )}
      {failedBinding !== undefined && (
        <dl class="facts-list one">
          <Fact words="Group binding">
            <code>{failedBinding.name}</code>
            <span>
              cannot be evaluated: <code>{failedBinding.error}</code>
            </span>
          </Fact>
        </dl>
      )}
    </Section>
  )
}

const shown = 12

function Names({ names }: { readonly names: readonly string[] }) {
  const [all, setAll] = useState(false)
  const visible = all ? names : names.slice(0, shown)
  return (
    <>
      {visible.map((name) => (
        <span key={name} class="tag mono">
          {name}
        </span>
      ))}
      {visible.length < names.length && (
        <button type="button" class="btn bare small" onClick={() => setAll(true)}>
          and {plural(names.length - shown, 'more', 'more')}
        </button>
      )}
    </>
  )
}

const Patterns = ({ patterns, all }: { patterns: readonly string[]; all: string }) =>
  patterns.length === 0 ? (
    <span class="quiet">none</span>
  ) : (
    <>
      <Names names={patterns} />
      {patterns.includes('*') && <span class="quiet">{all}</span>}
    </>
  )
