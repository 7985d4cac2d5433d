// The store and the watch cache: engine, encoding, history, compaction, and the settings of a store elsewhere.
import { ALL_PROGRAMS, optionGroup, SERVER, TIMER_MS_MAX } from './option.ts';

const STORE_ADDRESS = '[a-z]+:\\/\\/[^\\s,;#]+';

export const storageOptions = optionGroup('Store', SERVER, [
  {
    name: 'store-engine',
    type: 'string',
    default: 'level',
    values: ['level', 'memory'],
    description: 'What holds the data: level keeps it on disk, memory loses it when the process ends.',
    effect: ['in force', 'whether there is a folder store'],
  },
  {
    name: 'store-history-bytes',
    type: 'int',
    unit: 'bytes',
    default: '134217728',
    bounds: [2 ** 20, 2 ** 36],
    description: 'Memory for past changes that a watch can still start from; older ones are dropped first.',
    effect: ['in force', 'how far back watches can start'],
  },
  {
    name: 'encoding-cache-bytes',
    type: 'int',
    unit: 'bytes',
    default: '67108864',
    bounds: [0, 2 ** 36],
    description:
      'Memory of each front thread for objects encoded as Protobuf; those asked for least recently go first.',
    effect: ['in force', 'memory of front threads, and CPU of Protobuf answers'],
  },
  {
    name: 'storage-backend',
    type: 'string',
    default: 'store3',
    values: ['store3', 'etcd3'],
    description: 'Kind of store; both names mean the one that --store-servers or --store-engine says.',
    effect: ['in force', 'a name of the store'],
  },
  {
    name: 'storage-media-type',
    type: 'string',
    default: 'application/vnd.@brand.protobuf',
    values: ['application/vnd.@brand.protobuf', 'application/json'],
    description: 'Encoding of objects in the store.',
    effect: ['in force', 'the form of values in the store'],
  },
  {
    name: 'storage-versions',
    type: 'list',
    form: { pattern: /^(?:[a-z0-9.-]+\/)?v\d+[a-z0-9]*$/, says: 'v1 or group/version' },
    description: 'API versions to store objects in, the most wanted first; others are stored in the preferred one.',
    effect: ['in force', 'the version of values in the store'],
  },
  {
    name: 'store-prefix',
    type: 'string',
    aliases: ['etcd-prefix'],
    default: '/registry',
    description: 'Put before every key in the store.',
    effect: ['in force', 'the keys in the store'],
  },
  {
    name: 'store-compaction-interval',
    type: 'duration',
    aliases: ['etcd-compaction-interval'],
    default: '5m0s',
    bounds: [0, TIMER_MS_MAX],
    description: 'Time after which past changes are dropped; 0 keeps what --store-history-bytes allows.',
    effect: ['in force', 'how long watches can start from a version'],
  },
  {
    name: 'store-healthcheck-timeout',
    type: 'duration',
    aliases: ['etcd-healthcheck-timeout'],
    default: '2s',
    bounds: [1, TIMER_MS_MAX],
    description: 'Time the store has to answer a health check.',
    effect: ['in force', 'when the check of the store fails'],
  },
  {
    name: 'store-count-metric-poll-period',
    type: 'duration',
    aliases: ['etcd-count-metric-poll-period'],
    default: '1m0s',
    bounds: [0, TIMER_MS_MAX],
    description: 'Time between counts of the objects of each resource, for the metrics; 0 for never.',
    effect: ['in force', 'apiserver_storage_objects'],
  },
  {
    name: 'store-db-metric-poll-interval',
    type: 'duration',
    aliases: ['etcd-db-metric-poll-interval'],
    default: '30s',
    bounds: [0, TIMER_MS_MAX],
    description: 'Time between measurements of the store, for the metrics; 0 for never.',
    effect: ['in force', 'apiserver_storage_db_total_size_in_bytes'],
  },
  {
    name: 'lease-reuse-duration-seconds',
    type: 'int',
    unit: 'seconds',
    default: '60',
    bounds: [1, 2 ** 31 - 1],
    description: 'Time for which one store lease is shared by objects that expire.',
    effect: ['in force', 'how many leases there are in the etcd of --store-layout kubernetes'],
  },
  {
    name: 'store-servers',
    type: 'list',
    aliases: ['etcd-servers'],
    form: { pattern: new RegExp(`^${STORE_ADDRESS}$`), says: 'scheme://address:port' },
    holdsSecrets: true,
    description:
      'Addresses of the members of an etcd cluster (3.4.23 or newer) that several servers share as their store.',
    effect: ['in force', 'where objects are kept'],
  },
  {
    name: 'store-layout',
    type: 'string',
    default: 'own',
    values: ['own', 'kubernetes'],
    description:
      'Whose keys and values objects have in --store-servers: our own, or those of a kube-apiserver beside us.',
    effect: ['in force', 'keys and values in the store, and who else may serve them'],
  },
  {
    name: 'store-servers-overrides',
    type: 'list',
    aliases: ['etcd-servers-overrides'],
    form: {
      pattern: new RegExp(`^[a-z0-9.-]*\\/[a-z0-9-]+#${STORE_ADDRESS}(?:;${STORE_ADDRESS})*$`),
      says: 'group/resource#scheme://address:port;...',
    },
    holdsSecrets: true,
    description: 'Other store addresses for certain resources.',
    effect: ['refused', 'all objects lie in one store'],
  },
]);

export const storeTransportOptions = optionGroup('Store', ALL_PROGRAMS, [
  {
    name: 'encryption-provider-config',
    type: 'path',
    formerNames: ['experimental-encryption-provider-config'],
    description: 'File that says which resources are encrypted in the store, and how (EncryptionConfiguration).',
    effect: ['in force', 'how values are kept in the store'],
  },
  {
    name: 'store-cafile',
    type: 'path',
    aliases: ['etcd-cafile'],
    description: 'Authorities of the certificate of a store outside.',
    effect: ['in force', 'which certificate of the store is believed'],
  },
  {
    name: 'store-certfile',
    type: 'path',
    aliases: ['etcd-certfile'],
    description: 'Client certificate shown to a store outside.',
    effect: ['in force', 'who the server is for the store'],
  },
  {
    name: 'store-keyfile',
    type: 'path',
    aliases: ['etcd-keyfile'],
    description: 'Private key of --store-certfile.',
    effect: ['in force', 'who the server is for the store'],
  },
]);

export const watchCacheOptions = optionGroup('Watch cache', SERVER, [
  {
    name: 'watch-cache',
    type: 'bool',
    default: 'true',
    description:
      'Bound and bookmark watches as a cache does; reads come from memory, as recent as the store, all the same.',
    effect: ['in force', 'without it watches get no bookmarks and no sizes bound them'],
  },
  {
    name: 'default-watch-cache-size',
    type: 'int',
    unit: 'changes',
    default: '100',
    bounds: [0, 2 ** 31 - 1],
    description:
      'Changes of a type that can be watched from; at 100 as many as the store remembers, at 0 without bookmarks.',
    effect: ['in force', 'a watch or list from before the last so many changes of a type is 410'],
  },
  {
    name: 'watch-cache-sizes',
    type: 'list',
    form: { pattern: /^[a-z0-9-]+(?:\.[a-z0-9.-]+)?#\d{1,10}$/, says: 'resource[.group]#size' },
    description: 'The same for certain resources; one that is named goes before --default-watch-cache-size.',
    effect: ['in force', 'a watch or list from before the last so many changes of the type is 410'],
  },
]);
