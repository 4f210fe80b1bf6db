import { boot } from '../api/boot.ts'
import type { BrowseApiError } from '../api/client.ts'
import type { WhoAmI } from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { matchRoute } from '../routes.ts'
import { justSignedIn, loginHref } from '../shell/session.ts'
import { currentUrl } from '../url/navigate.ts'
import { accessHref, whoAmIUrl } from '../url/pages.ts'
import { clock, sentence } from './format.ts'
import { Note, Void } from './message.tsx'
import { TokenForm } from './token-form.tsx'

interface Props {
  readonly error: BrowseApiError
  readonly what: string
  readonly refetch: () => void
  readonly resetHref?: string | undefined
}

/** Replaces a region without data: says what happened and what to do next. */
export function ErrorCard({ error, what, refetch, resetHref }: Props) {
  if (error.status === 401) return <Unauthenticated />
  if (error.status === 403) return <Forbidden error={error} />
  if (error.status === 404) return <NotVisible />
  if (error.status === 400) {
    return (
      <Void words="The registry does not understand these filters." isPage role="alert">
        <p>{error.message}</p>
        <a class="btn" href={resetHref ?? location.pathname}>
          Reset filters
        </a>
      </Void>
    )
  }
  if (error.retryAfterSeconds !== undefined) {
    const state = error.status === 503 ? 'starting' : 'busy'
    return <Note icon="wait">The registry is {state}. This page tries again by itself.</Note>
  }
  return (
    <Void words={`${what} could not be loaded.`} isPage role="alert">
      <p>{error.message}</p>
      {error.requestId !== undefined && (
        <p>
          Request <code>{error.requestId}</code>
        </p>
      )}
      <button type="button" class="btn" onClick={refetch}>
        Retry
      </button>
    </Void>
  )
}

function Unauthenticated() {
  if (boot.oidc && (justSignedIn() || boot.devTokenInUse)) {
    return (
      <Note tone="fail" icon="fail" role="alert">
        {boot.devTokenInUse
          ? 'The registry did not accept the developer token.'
          : 'You are signed in, but the registry did not accept the token.'}{' '}
        {boot.issuer !== undefined && (
          <>
            Issuer <code>{boot.issuer}</code>, audience{' '}
            <code>{boot.audience?.join(', ') ?? 'none'}</code>. Its operator can add the audience
            with <code>--oidc-ui-client-id</code>.
          </>
        )}
      </Note>
    )
  }
  if (boot.oidc) {
    const signIn = (
      <a class="btn" href={loginHref()}>
        Sign in
      </a>
    )
    return (
      <Note icon="key" end={signIn}>
        You are being sent to the sign-in.
      </Note>
    )
  }
  return (
    <div class="lone" role="alert">
      <p>
        <strong>This registry needs a token.</strong>
      </p>
      <p class="quiet">
        {boot.devTokenInUse
          ? 'It did not accept the current developer token. Paste another one.'
          : boot.devTokenInput
            ? 'Paste a bearer token to see what it gives access to.'
            : 'This explorer has no sign-in. Ask its operator to configure one.'}
      </p>
      {boot.devTokenInput && <TokenForm />}
    </div>
  )
}

const Forbidden = ({ error }: { readonly error: BrowseApiError }) => (
  <div class="lone" role="alert">
    <p>
      <strong>You may not see this.</strong>
    </p>
    <p>{sentence(error.message)}</p>
    <p class="quiet">
      {boot.signedIn
        ? `You are signed in as ${boot.email ?? boot.name ?? 'a caller without a name'}.`
        : 'You are not signed in.'}
    </p>
    <div class="actions">
      <a class="btn main" href={accessHref()}>
        What may I see?
      </a>
    </div>
  </div>
)

/** Does not reveal which of the two it is, unless the registry hides nothing. */
export function NotVisible() {
  const isOpen = useQuery<WhoAmI>(whoAmIUrl).data?.kind === 'anonymous'
  const { resource } = matchRoute(currentUrl())
  const address =
    resource === undefined ? '' : `${resource.namespace}/${resource.kind}/${resource.name}`
  return (
    <div class="lone">
      <p role="alert">
        <strong>Not found, or not visible to you.</strong>
      </p>
      <p class="quiet">
        {isOpen
          ? 'This registry shows everything to everyone, so it does not exist. Check namespace, kind and name.'
          : 'Depot does not reveal which, so that names stay private.'}
      </p>
      <div class="actions">
        {!isOpen && (
          <a class="btn main" href={accessHref({ resource: address })}>
            Why can I not see it?
          </a>
        )}
        <a class="btn" href="/">
          Back to the registry
        </a>
      </div>
    </div>
  )
}

export function StaleBanner({ query }: { readonly query: Query<unknown> }) {
  const retry = (
    <button type="button" class="btn" onClick={query.refetch}>
      Retry
    </button>
  )
  return (
    <Note tone="warn" icon="wait" role="alert" end={retry}>
      Showing data from {clock(query.updatedAt)}. Refreshing failed.
    </Note>
  )
}
