import ipaddr from 'ipaddr.js'

/** Which addresses may be connected to. */
export interface AddressRules {
  /**
   * Why an address is refused; undefined where it is fine.
   *
   * @param named whether its host is named in the options, which opens the private networks that are named there too
   */
  refusal(address: string, named: boolean): string | undefined
}

/**
 * Lets through what is public unicast, and what lies in a network that was named.
 *
 * @param privateNetworks in CIDR notation, such as `10.0.0.0/8`
 * @throws Error for one that cannot be read
 */
export function addressRules(privateNetworks: readonly string[]): AddressRules {
  const networks = privateNetworks.map((network) => {
    if (ipaddr.isValidCIDR(network)) return ipaddr.parseCIDR(network)
    throw new Error(`"${network}" is no network: write it as 10.0.0.0/8 or fd00::/8`)
  })
  return {
    refusal(text, named) {
      if (!ipaddr.isValid(text)) return 'is no address'
      const address = ipaddr.process(text)
      if (isPublic(address)) return undefined
      if (named && networks.some((network) => isIn(address, network))) return undefined
      return `is not public (${address.range()})`
    },
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

function isIn(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network instanceof ipaddr.IPv4 && address.match(network, bits)
  }
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}

/** `unicast` is what no special purpose was found for; of IPv6 only 2000::/3 is given out. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
