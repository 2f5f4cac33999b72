import type { DataMap } from '../../formats/data.ts';
import type { TackerSpec } from './kind.ts';

/** An API by its path: the factory of its program, and filters of its own before it. */
interface Served {
  readonly name: string;
  readonly factory: string;
  readonly filters?: readonly string[];
}

/** APIs of the orchestrator (etc/tacker/api-paste.ini of Tacker). */
const orchestrator: Readonly<Record<string, Served>> = {
  '/v1.0': { name: 'vims', factory: 'tacker.api.v1.router:APIRouter.factory', filters: ['extensions'] },
  '/vnfpkgm/v1': { name: 'vnfpkgm', factory: 'tacker.api.vnfpkgm.v1.router:VnfpkgmAPIRouter.factory' },
};

const router = 'tacker.sol_refactored.api.router';

/**
 * APIs of who manages network functions, from the same file. What a Prometheus or a server would call is missing: it asks for
 * no token.
 */
const manager: Readonly<Record<string, Served>> = {
  '/vnflcm': { name: 'vnflcm_versions', factory: `${router}:VnflcmVersions.factory` },
  '/vnflcm/v1': { name: 'vnflcm_v1', factory: 'tacker.api.vnflcm.v1.router:VnflcmAPIRouter.factory' },
  '/vnflcm/v2': { name: 'vnflcm_v2', factory: `${router}:VnflcmAPIRouterV2.factory` },
  '/vnffm/v1': { name: 'vnffm', factory: `${router}:VnffmAPIRouterV1.factory` },
  '/vnfpm/v2': { name: 'vnfpm', factory: `${router}:VnfPmAPIRouterV2.factory` },
};

/** What a request passes: who asks without a token learns the versions, and nothing else. */
export function pipelines({ enableNFVO = true, enableVNFM = true }: TackerSpec): DataMap {
  const served = Object.entries({ ...(enableNFVO && orchestrator), ...(enableVNFM && manager) });
  return {
    'composite:tacker': {
      use: 'egg:Paste#urlmap',
      '/': 'versions',
      ...Object.fromEntries(served.map(([path, { name }]) => [path, name])),
    },
    'pipeline:versions': { pipeline: 'http_proxy_to_wsgi versions_app' },
    'app:versions_app': { 'paste.app_factory': 'tacker.api.versions:Versions.factory' },
    ...Object.fromEntries(
      served.flatMap(([, { name, factory, filters = [] }]) => [
        [`pipeline:${name}`, { pipeline: [...passed, ...filters, `${name}_app`].join(' ') }],
        [`app:${name}_app`, { 'paste.app_factory': factory }],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(factories).map(([name, factory]) => [`filter:${name}`, { 'paste.filter_factory': factory }]),
    ),
    'filter:http_proxy_to_wsgi': {
      'paste.filter_factory': 'oslo_middleware.http_proxy_to_wsgi:HTTPProxyToWSGI.factory',
      oslo_config_project: 'tacker',
    },
  };
}

const passed = ['http_proxy_to_wsgi', 'request_id', 'catch_errors', 'authtoken', 'keystonecontext'];

const factories = {
  request_id: 'oslo_middleware:RequestId.factory',
  catch_errors: 'oslo_middleware:CatchErrors.factory',
  authtoken: 'keystonemiddleware.auth_token:filter_factory',
  keystonecontext: 'tacker.auth:TackerKeystoneContext.factory',
  extensions: 'tacker.api.extensions:extension_middleware_factory',
};
