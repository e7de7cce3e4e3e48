-- expands
-- Case means nothing in a language tag (RFC 5646 section 2.1.1), so tags are stored in the case that is convention, and
-- are sought in it by the index: language in lower case, scripts titled, regions in upper case; all that follows a
-- subtag of one character in lower case.

UPDATE news_articles AS article SET locale = spelled.locale
FROM (
    SELECT id, string_agg(
        CASE WHEN place = 1 OR is_private THEN lower(part)
             WHEN length(part) = 2 THEN upper(part)
             WHEN part ~ '^[A-Za-z]{4}$' THEN initcap(part)
             ELSE lower(part) END, '-' ORDER BY place) AS locale
    FROM (
        SELECT id, part, place, coalesce(bool_or(length(part) = 1) OVER (
            PARTITION BY id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS is_private
        FROM news_articles, regexp_split_to_table(locale, '-') WITH ORDINALITY AS parts (part, place)
    ) AS parted
    GROUP BY id
) AS spelled
WHERE article.id = spelled.id AND article.locale <> spelled.locale;
