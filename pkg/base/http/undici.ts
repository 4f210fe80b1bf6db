/** What is used of undici, in a file of its own: names of a CommonJS package are lost where a bundle imports it on first use. */
export { Agent, buildConnector, ProxyAgent } from 'undici'
