#include "collector/cluster/sql.h"

#include <inttypes.h>
#include <string.h>

static bool
sql_is_named(const char *name, const char *place, size_t n)
{
	return strncmp(name, place, n) == 0 && name[n] == '\0';
}

static const struct cluster_table *
table_named(const char *name, size_t n)
{
	for (int t = 0; t < CLUSTER_N_TABLES; t++)
		if (sql_is_named(cluster_tables[t].name, name, n))
			return &cluster_tables[t];
	return NULL;
}

static void
write_columns(FILE *out, const struct cluster_table *table, size_t first)
{
	for (size_t i = first; i < cluster_n_columns(table); i++)
		fprintf(out, "%s%s", i > first ? ", " : "", cluster_column(table, i).name);
}

static bool
sql_write_value(FILE *out, const struct sql *sql, const char *name, size_t n)
{
	const struct sql_value *v = sql->values, *end = v ? v + SQL_VALUES_MAX : NULL;

	while (v != end && v->name && !sql_is_named(v->name, name, n))
		v++;
	if (v == end || !v->name)
		return false;
	if (v->text)
		sql_write(out, &(struct sql){sql->place, sql->table, v->text, sql->values});
	else if (v->write)
		v->write(out, v->arg);
	else
		fprintf(out, v->is_signed ? "%" PRId64 : "%" PRIu64, v->number);
	return true;
}

static bool
sql_write_table(FILE *out, const struct sql *sql, const char *name, size_t n)
{
	static const char suffix[] = "_local";
	size_t n_suffix = sizeof(suffix) - 1;
	bool local = n > n_suffix && strncmp(name + n - n_suffix, suffix, n_suffix) == 0;
	size_t n_name = local ? n - n_suffix : n;
	const struct cluster_table *table = sql_is_named("table", name, n_name) ? sql->table : table_named(name, n_name);

	if (table)
		cluster_write_name(out, sql->place, table, local);
	return table;
}

static bool
write_text(FILE *out, const struct sql *sql, const char *name, size_t n)
{
	for (int i = 0; sql->values && i < CLUSTER_N_SQL; i++)
		if (sql_is_named(cluster_sql[i].name, name, n)) {
			sql_write(out, &(struct sql){sql->place, sql->table, cluster_sql[i].text, sql->values});
			return true;
		}
	return false;
}

static void
write_place(FILE *out, const struct sql *sql, const char *name, size_t n)
{
	if (sql_write_value(out, sql, name, n))
		return;
	if (sql_is_named("database", name, n))
		fputs(sql->place->database, out);
	else if (sql_is_named("cluster", name, n))
		fputs(sql->place->cluster ? sql->place->cluster : "", out);
	else if (sql->table && sql_is_named("columns", name, n))
		write_columns(out, sql->table, 0);
	else if (sql->table && sql_is_named("further_columns", name, n))
		write_columns(out, sql->table, 1);
	else if (!sql_write_table(out, sql, name, n) && !write_text(out, sql, name, n))
		fprintf(out, "{%.*s}", (int)n, name);
}

void
sql_write(FILE *out, const struct sql *sql)
{
	for (const char *at = sql->text; *at;) {
		size_t n = strcspn(at, "{");

		fwrite(at, 1, n, out);
		at += n;
		if (*at) {
			n = strcspn(++at, "}");
			write_place(out, sql, at, n);
			at += n + (at[n] != '\0');
		}
	}
}

void
sql_put_text(FILE *out, const void *text)
{
	fputs(text, out);
}

void
sql_print(FILE *out, const struct cluster_place *place, const struct sql_text *texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "-- %s: %s\n", texts[i].name, texts[i].about);
		sql_write(out, &(struct sql){.place = place, .text = texts[i].text});
		fputs(";\n\n", out);
	}
}
