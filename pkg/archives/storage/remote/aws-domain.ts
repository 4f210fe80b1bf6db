/** What names of AWS end in, in a region. */
export const awsDomainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
