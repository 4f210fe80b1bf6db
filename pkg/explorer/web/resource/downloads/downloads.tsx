import type { Address } from '../../url/pages.ts'
export const DownloadsSection = (_props: { readonly address: Address }) => null
