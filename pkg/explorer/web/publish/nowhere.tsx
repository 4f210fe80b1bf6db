import { boot } from '../api/boot.ts'
import type { WhoAmI } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Void } from '../parts/message.tsx'
import { Lines } from '../parts/skeleton.tsx'
import { loginHref } from '../shell/session.ts'
import { whoAmIUrl } from '../url/pages.ts'

/** For callers who may publish nowhere: which right to ask for, and whom. */
export function Nowhere() {
  const who = useQuery<WhoAmI>(whoAmIUrl)
  if (who.data === undefined && who.error === undefined) return <Lines count={6} />
  const kind = who.data?.kind
  if (kind === 'anonymous') return <Open />
  if (boot.oidc && !boot.signedIn && !boot.devTokenInUse) return <SignIn />
  return kind === 'passthrough' ||
    who.data?.mode === 'bearer' ||
    who.data?.mode === 'kubeconfig' ? (
    <Denied way={<AskForRole />} text={roleText()} />
  ) : (
    <Denied way={<AskForBinding />} text={bindingText(who.data)} />
  )
}

const Open = () => (
  <Void words="Nobody publishes over HTTP here" isPage>
    <p>
      This registry does not ask who its callers are. Whoever runs it publishes with a Depot, with{' '}
      <code>depot publish --direct</code>, or by writing a Module and its Versions.
    </p>
  </Void>
)

const SignIn = () => (
  <Void words="Sign in to publish" isPage>
    <p>Depot shows where you may publish when it knows who you are.</p>
    <a class="btn main" href={loginHref()}>
      Sign in
    </a>
  </Void>
)

const Denied = (props: { readonly way: preact.ComponentChildren; readonly text: string }) => (
  <Void words="You may not publish anywhere yet" isPage>
    <p>{props.way}</p>
    <CopyButton text={props.text} what="a text to ask" look="words" />
  </Void>
)

const AskForBinding = () => (
  <>
    Whoever runs Depot adds the namespace to <code>publishNamespaces</code> of a GroupBinding for
    your group, and the names to its <code>publishModules</code> or <code>publishProviders</code>.
  </>
)

const AskForRole = () => (
  <>
    Whoever runs the namespace in the cluster gives you a Role with <code>create</code> on{' '}
    <code>versions</code> of <code>depot.internal</code>.
  </>
)

const identity = (): string | undefined => boot.email ?? boot.name

/** A sentence about the caller for the administrators. */
function signedInAs(subject: string | undefined): string {
  const name = identity() ?? subject
  return name === undefined ? '' : `I am signed in as ${name}.\n`
}

function bindingText(who: WhoAmI | undefined): string {
  const groups = who?.groups.slice(0, 20).join(', ') ?? ''
  const matched =
    who?.binding === undefined
      ? 'No group binding matches me.'
      : `I match the group binding ${who.binding.name}.`
  return `Please let me publish to the namespace NAMESPACE in Depot.
${signedInAs(who?.subject)}${groups === '' ? '' : `My groups: ${groups}.\n`}${matched}
It would need: publishNamespaces: [NAMESPACE] and publishModules: [NAME]`
}

const roleText = (): string => `Please let me publish to the namespace NAMESPACE in Depot.
${signedInAs(undefined)}I need a Role there that allows create on versions of depot.internal.`
