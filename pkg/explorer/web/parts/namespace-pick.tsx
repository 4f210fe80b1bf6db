import type { NamespaceList } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { namespacesUrl } from '../url/pages.ts'
import { nameOptions, Pick } from './pick.tsx'

interface Props {
  readonly value: string
  readonly onChoose: (namespace: string) => void
}

/** Chooses one of the listed namespaces, or all. */
export function NamespacePick(props: Props) {
  const { data } = useQuery<NamespaceList>(namespacesUrl)
  const names = data?.items.map(({ name }) => name) ?? []
  return <Pick label="Namespace" names options={nameOptions('All namespaces', names)} {...props} />
}
