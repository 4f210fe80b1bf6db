import { useState } from 'preact/hooks'
import { boot } from '../api/boot.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Icon } from '../parts/icon.tsx'
import { Tabs } from '../parts/tabs.tsx'
import type { PublishValues } from '../url/pages.ts'
import { withoutMistakes } from './address.ts'
import {
  type Ci,
  ciJob,
  depotBlock,
  type Filled,
  manifestFile,
  manifests,
  publishCommand,
} from './blocks.ts'

interface Props {
  readonly filled: PublishValues & { readonly object: string | undefined }
  readonly overHttp: boolean
}

/** The ways to publish, the one that is best for most first. */
export function Ways({ filled: values, overHttp }: Props) {
  const isModule = values.kind === 'module'
  const typed = withoutMistakes(values)
  const filled: Filled = { ...values, ...typed, registryHost: boot.registryHost, overHttp }
  return (
    <ol class="ways three-ways">
      <li>
        <Heading icon="depot">
          Let a Depot watch the {isModule ? 'repository' : 'registry that has it'}
        </Heading>
        <p class="quiet">
          {isModule
            ? 'Best for most. Every new tag is published, and nobody needs a token. '
            : 'Best for providers of others. Every new version is copied and checked. '}
          Write where {isModule ? 'your repository' : 'the provider'} is, and your storage.
        </p>
        <CodeBlock text={depotBlock(filled)} what="Depot" yaml />
      </li>
      <li>
        <Heading icon="publish">Push it from a shell or CI</Heading>
        <p class="quiet">
          Best when a pipeline decides.{' '}
          {isModule
            ? 'It shows what would break before it sends.'
            : 'It takes the zips of GoReleaser, and checks them against SHA256SUMS.'}
          {overHttp &&
            ' A job of GitHub Actions or GitLab uses its own identity, so no secret is stored. The registry has to trust it.'}
          {!overHttp &&
            ' It uses your own credentials of the cluster and of the storage, because this server takes no archives.'}
        </p>
        {overHttp ? (
          <Commands filled={filled} />
        ) : (
          <CodeBlock text={publishCommand(filled)} what="publish command" />
        )}
        <p class="quiet">
          Look first with <code>--dry-run</code>: files, size, digest
          {isModule && ', interface, breaking changes'}.
        </p>
      </li>
      <li>
        <Heading icon="key">Write the objects yourself</Heading>
        <p class="quiet">
          Best for tools that speak to the cluster. The archive is already in storage.
        </p>
        <CodeBlock text={manifests(filled)} what="manifest" yaml />
        <CodeBlock
          text={`kubectl apply --server-side -f ${manifestFile(filled)}`}
          what="kubectl command"
        />
      </li>
    </ol>
  )
}

/** The command for a shell, and the jobs that run it. */
function Commands({ filled }: { readonly filled: Filled }) {
  const [where, choose] = useState<Ci | 'shell'>('shell')
  return (
    <>
      <Tabs
        label="Where"
        id="where"
        chosen={where}
        tabs={[
          ['shell', 'Shell'],
          ['github', 'GitHub Actions'],
          ['gitlab', 'GitLab'],
        ]}
        onChoose={choose}
      />
      <div id="where-panel" role="tabpanel" aria-labelledby={`where-${where}`} class="steps">
        {where === 'shell' ? (
          <CodeBlock text={publishCommand(filled)} what="publish command" />
        ) : (
          <CodeBlock text={ciJob(filled, where)} what="job" yaml />
        )}
      </div>
    </>
  )
}

const Heading = (props: { readonly icon: string; readonly children: preact.ComponentChildren }) => (
  <h2>
    <Icon name={props.icon} />
    {props.children}
  </h2>
)
