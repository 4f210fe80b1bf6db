import { boot } from '../api/boot.ts'
import type { WhoAmI } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { plural } from '../parts/format.ts'
import { LookedAt } from '../parts/looked-at.tsx'
import { NoMatch } from '../parts/message.tsx'
import { Lines } from '../parts/skeleton.tsx'
import { loginHref } from '../shell/session.ts'
import {
  accessHref,
  isSearched,
  type ResourcesValues,
  resourcesHref,
  whoAmIUrl,
} from '../url/pages.ts'

interface NothingProps {
  /** Active filters. */
  readonly count: number
  readonly values: ResourcesValues
}

export const NothingMatches = ({ count, values: { view, q } }: NothingProps) => (
  <NoMatch clearHref={resourcesHref({ view })}>
    <p>{plural(count, 'filter is', 'filters are')} on.</p>
    {isSearched(q) && (
      <p>
        <LookedAt access={<a href={accessHref()}>Access</a>} />
      </p>
    )}
  </NoMatch>
)

const commands = `kubectl label namespace NAMESPACE depot.internal/public=true
kubectl label module NAME -n NAMESPACE depot.internal/public=true`

/** Next steps for a caller who sees nothing. */
export function EmptyRegistry() {
  const who = useQuery<WhoAmI>(whoAmIUrl)
  if (who.data === undefined && who.error === undefined) return <Lines count={6} />
  return who.data?.kind === 'anonymous' ? <WaysToFill /> : <WaysToSee />
}

const depot = `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata:
  name: public
  namespace: platform
spec:
  pollingIntervalMinutes: 60
  global:
    storageConfig:
      fileSystem:
        directoryPath: upstream
  moduleConfigs:
    - name: vpc
      provider: aws
      repoUrl: https://github.com/terraform-aws-modules/terraform-aws-vpc
      versionConstraints: "~> 5.0"`

const published = `apiVersion: depot.internal/v1alpha1
kind: Module
metadata: { name: naming, namespace: platform }
spec:
  moduleConfig:
    provider: generic
    storageConfig: { fileSystem: { directoryPath: modules } }
---
apiVersion: depot.internal/v1alpha1
kind: Version
metadata: { name: naming-1.0.0, namespace: platform }
spec:
  type: Module
  version: 1.0.0
  fileName: naming-1.0.0.zip
  moduleConfigRef: { name: naming }`

const WaysToFill = () => (
  <div class="lone">
    <p>This registry is empty. There are three ways to fill it.</p>
    <ol class="ways">
      <li>
        <h2>Follow repositories and other registries</h2>
        <p class="quiet">
          The controller, or <code>depot sync</code> for a folder of manifests, fetches every
          version that matches a Depot.
        </p>
        <CodeBlock text={depot} what="Depot" />
      </li>
      <li>
        <h2>Import from another registry</h2>
        <p class="quiet">It writes archives and manifests, which you serve or apply.</p>
        <CodeBlock
          text="depot import registry.example.com/network/vpc/aws"
          what="command that imports a module"
        />
      </li>
      <li>
        <h2>Publish your own archives</h2>
        <p class="quiet">A Module or Provider, and a Version for each archive.</p>
        <CodeBlock text={published} what="manifests of a module" />
      </li>
    </ol>
  </div>
)

const WaysToSee = () => (
  <div class="lone">
    <p>
      Nothing is visible to you yet. Depot shows a resource to everyone when its namespace{' '}
      <em>and</em> the resource itself are labelled public.
    </p>
    <ol class="ways">
      <li>
        <h2>Make a resource public</h2>
        <p class="quiet">
          Label the namespace, then the module or provider. It appears here within seconds.
        </p>
        <CodeBlock text={commands} what="commands that make a module public" />
      </li>
      {boot.oidc && !boot.signedIn && (
        <li>
          <h2>Or sign in</h2>
          <p class="quiet">Signed in, you also see what your groups are allowed to see.</p>
          <div>
            <a class="btn main" href={loginHref()}>
              Sign in
            </a>
          </div>
        </li>
      )}
      <li>
        <h2>Expected to see something?</h2>
        <p class="quiet">
          <a href={accessHref()}>Access</a> says who Depot thinks you are and which rule applies.
        </p>
      </li>
    </ol>
  </div>
)
