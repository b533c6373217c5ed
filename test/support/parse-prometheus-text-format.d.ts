// The types of a package that has none: a reader of Prometheus' text format.
declare module 'parse-prometheus-text-format' {
  interface ParsedSample {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value?: string;
  }
  interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
    readonly metrics: readonly ParsedSample[];
  }
  export default function parse(text: string): ParsedFamily[];
}
