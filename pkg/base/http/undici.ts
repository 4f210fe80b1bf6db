/** The used parts of undici. A file of its own, because a bundle that imports a CommonJS package on first use loses its names. */
export { Agent, buildConnector, ProxyAgent } from 'undici'
