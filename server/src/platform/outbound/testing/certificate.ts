/**
 * A certificate for `hook.example` that is its own authority, valid to the year 2126. Made for tests, trusted by nothing:
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=hook.example \
 *   -addext subjectAltName=DNS:hook.example
 */
export const HOOK_EXAMPLE = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBnzCCAUSgAwIBAgIULNih8IAAT3Y7g6aAmoHO8OJdke4wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMaG9vay5leGFtcGxlMCAXDTI2MTExNTAyMzY0N1oYDzIxMjYx
MDIyMDIzNjQ3WjAXMRUwEwYDVQQDDAxob29rLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAARpt0I4cvVzXMN1ixCQ8ZpleYmQ+X0gLUiyTNw75fSsAfH5
3km+x2Xsjk7jv/yAFY6AI/kG09We0sAlnrkbz37+o2wwajAdBgNVHQ4EFgQUmka8
VogbWuL1mv86X9vyRgVJj10wHwYDVR0jBBgwFoAUmka8VogbWuL1mv86X9vyRgVJ
j10wDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxob29rLmV4YW1wbGUwCgYI
KoZIzj0EAwIDSQAwRgIhAKRcNbGDPf69rU8beuwNr/CW7MjJWupWNSkabDbGAYA3
AiEA/ljOZJvDyMZ6qF+JWgfCj2pcOWf9q/2tfevWkaFM9dw=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6Ms1t2QWbM75k8q1
uh1xkoPDXJn8Pt9Eh5Myx26aYlWhRANCAARpt0I4cvVzXMN1ixCQ8ZpleYmQ+X0g
LUiyTNw75fSsAfH53km+x2Xsjk7jv/yAFY6AI/kG09We0sAlnrkbz37+
-----END PRIVATE KEY-----
`,
}
