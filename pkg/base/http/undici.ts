/** The used parts of undici, in a file of their own: if a bundle imports a CommonJS package on first use, its names are lost. */
export { Agent, buildConnector, ProxyAgent } from 'undici'
