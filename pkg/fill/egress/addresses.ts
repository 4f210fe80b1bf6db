import ipaddr from 'ipaddr.js'

/** Private networks in which a host can be that a person names on a command line. */
export const localNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1/128',
  'fc00::/7',
]

/** Decides which addresses Depot may connect to. */
export type AddressRules = ReturnType<typeof addressRules>

/**
 * Allows public unicast addresses, and addresses in the given private networks.
 *
 * @param privateNetworks in CIDR notation, such as `10.0.0.0/8`
 * @throws Error for an invalid network
 */
export function addressRules(privateNetworks: readonly string[]) {
  const networks = privateNetworks.map((network) => {
    if (ipaddr.isValidCIDR(network)) return ipaddr.parseCIDR(network)
    throw new Error(`"${network}" is not a network: write it as 10.0.0.0/8 or fd00::/8`)
  })
  return {
    /**
     * Explains why an address is refused; undefined if it is allowed.
     *
     * @param named whether an option names the host: then its address may be in a private network that an option names
     */
    refusal(text: string, named: boolean): string | undefined {
      if (!ipaddr.isValid(text)) return 'is not an IP address'
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

/** `unicast` means that no special purpose is known; of IPv6 only 2000::/3 is assigned. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
