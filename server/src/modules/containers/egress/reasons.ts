/** Why something did not pass. Stable: receipts store them. The text says what to do, for whoever reads it inside. */
export const REASONS = {
  hello_malformed: 'The connection did not begin with a TLS hello that can be read.',
  hello_too_long: 'The TLS hello is too long.',
  name_missing: 'The TLS hello names no host (SNI). Connect by host name, not by address.',
  name_is_address: 'Addresses cannot be reached. Use a host name that the network policy lists.',
  name_malformed: 'The host name cannot be read.',
  ech_not_allowed: 'Encrypted TLS hellos (ECH) hide the host name. Turn ECH off.',
  host_mismatch: 'The request names another host than its connection was opened for.',
  domain_not_allowed:
    'The host is not in the network policy of this container, or no longer in the list of the organisation.',
  port_not_allowed: 'The port is not allowed. Ports 80 and 443 are; an administrator may add others.',
  address_not_allowed: 'The host has an address that is not on the public internet.',
  name_not_resolved: 'The host name has no address.',
  connect_failed: 'No connection to the host could be made.',
  tls_failed: 'No TLS session with the host could be made, or its certificate is not trusted.',
  client_tls_failed:
    'The client broke TLS off: it does not trust the roots in /run/egress, or speaks nothing but HTTP/2.',
  bad_reply: 'The host broke off, or its reply cannot be read.',
  secret_of_other_host: 'A header names a secret that belongs to another domain. It was not sent.',
  secret_not_over_http: 'Secrets are applied over https only. Use https://, or have an administrator allow plain http.',
  placeholder_not_in_header: 'Secrets are applied in request headers only, not in the address. It was not sent.',
  request_malformed: 'The request cannot be read safely.',
  upgrade_not_allowed: 'Of the protocols to switch to, only websocket passes.',
  too_many_connections: 'The container has too many open connections.',
  domain_removed: 'The host was taken off the list while the connection was open.',
  detached: 'The container ended.',
  client_gone: 'The client left before the reply was complete.',
  idle: 'Nothing was sent for too long.',
  timed_out: 'The client took too long to say what it wants.',
} as const

export type Reason = keyof typeof REASONS
