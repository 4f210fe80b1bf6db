const pageOf: Readonly<Record<string, (address: string, version: string) => string>> = {
  'registry.opentofu.org': (address, version) =>
    `https://search.opentofu.org/provider/${address}/v${version}`,
  'registry.terraform.io': (address, version) =>
    `https://registry.terraform.io/providers/${address}/${version}/docs`,
}

/** The page of a provider version in a public registry. @param address `host/namespace/type` */
export function upstreamDocsUrl(
  address: string | undefined,
  version: string | undefined,
): string | undefined {
  const [host = '', namespace, type] = address?.split('/') ?? []
  const page = Object.hasOwn(pageOf, host) ? pageOf[host] : undefined
  if (page === undefined || version === undefined) return undefined
  return page(`${encodeURIComponent(namespace ?? '')}/${encodeURIComponent(type ?? '')}`, version)
}
