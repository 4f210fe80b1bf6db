import { boot } from '../api/boot.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { plural } from '../parts/format.ts'
import { loginHref } from '../shell/session.ts'
import { accessHref, type ResourcesValues, resourcesHref } from '../url/pages.ts'

export const NothingMatches = (props: { count: number; view: ResourcesValues['view'] }) => (
  <div class="void">
    <h2 class="h3">Nothing matches these filters.</h2>
    <p>{plural(props.count, 'filter is', 'filters are')} on.</p>
    <a class="btn" href={resourcesHref({ view: props.view })}>
      Clear
    </a>
  </div>
)

const commands = `kubectl label namespace NAMESPACE depot.internal/public=true
kubectl label module NAME -n NAMESPACE depot.internal/public=true`

/** Next steps for a caller who sees nothing. */
export const EmptyRegistry = () => (
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
