// Names that Dask, Node and other libraries give to options. An error about an unknown option suggests the one that is meant.

/** Groups of names with one meaning, without case and punctuation. */
const SPELLINGS: readonly (readonly string[])[] = [
  [
    'workers',
    'numworkers',
    'nworkers',
    'threads',
    'nthreads',
    'maxthreads',
    'concurrency',
    'parallelism',
    'maxworkers',
  ],
  ['maximum', 'max', 'maxworkers'],
  ['minimum', 'min', 'minworkers'],
  ['memorylimit', 'maxmemory', 'heap', 'maxheap', 'resourcelimits', 'maxoldgenerationsizemb'],
  ['localdirectory', 'temporarydirectory', 'tempdir', 'tmpdir', 'tmp'],
  ['dashboard', 'port', 'dashboardaddress', 'dashboardport'],
  ['signal', 'abort', 'abortsignal', 'aborter', 'canceltoken'],
  ['timeout', 'deadline', 'timelimit', 'ttl'],
  ['retries', 'attempts', 'maxattempts'],
  ['allowedfailures', 'maxfailures'],
  ['key', 'name', 'daskkeyname'],
  ['filename', 'file', 'path', 'output', 'out'],
  ['interval', 'dt', 'delay', 'period', 'every'],
  ['maxsize', 'capacity', 'limit', 'highwatermark'],
  ['callbacks', 'callback', 'hooks'],
];

/** Returns the name without case and punctuation. */
export function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

export function sameMeaning(name: string, known: readonly string[]): readonly string[] {
  const wanted = lettersOf(name);
  const groups = SPELLINGS.filter((group) => group.includes(wanted));
  return known.filter((one) => one !== name && groups.some((group) => group.includes(lettersOf(one))));
}
