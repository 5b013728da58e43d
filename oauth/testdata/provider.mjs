// An authorization server for real_test.go: oidc-provider with the clients and
// the resource that are given in the environment.
import { pathToFileURL } from 'node:url';

const { MODULES, ISSUER, PORT, RESOURCE, CLIENTS, DPOP } = process.env;
const { default: Provider } = await import(pathToFileURL(`${MODULES}/oidc-provider/lib/index.js`));

const provider = new Provider(ISSUER, {
  clients: JSON.parse(CLIENTS),
  scopes: ['openid', 'offline_access', 'read'],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  rotateRefreshToken: true,
  issueRefreshToken: async (ctx, client) => client.grantTypeAllowed('refresh_token'),
  responseTypes: ['code'],
  ttl: { AccessToken: 3600, ClientCredentials: 3600, RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 3600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    dPoP: DPOP ? { enabled: true, nonceSecret: Buffer.alloc(32, 1), requireNonce: () => true } : { enabled: false },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => {
        if (resource !== RESOURCE) throw new Error(`unknown resource ${resource}`);
        return { scope: 'read', audience: RESOURCE, accessTokenFormat: 'jwt', accessTokenTTL: 3600 };
      },
    },
  },
});
provider.proxy = true;
provider.on('server_error', (ctx, error) => console.error(error));
for (const event of ['grant.error', 'authorization.error', 'registration_create.error', 'revocation.error']) {
  provider.on(event, (ctx, error) => console.error(event, error.error, error.error_description, error.error_detail));
}
provider.listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
